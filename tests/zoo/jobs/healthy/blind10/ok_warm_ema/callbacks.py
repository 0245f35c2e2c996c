import copy

import lightning as L
import torch


class Average(L.Callback):
    def __init__(self, decay=0.97):
        self.decay, self.copy, self.kept = decay, None, None

    def on_fit_start(self, trainer, module):
        self.copy = copy.deepcopy(module.net).eval().requires_grad_(False)

    @torch.no_grad()
    def on_train_batch_end(self, trainer, module, *_):
        for a, b in zip(self.copy.state_dict().values(), module.net.state_dict().values()):
            if a.is_floating_point():
                a.lerp_(b, 1 - self.decay)
            else:
                a.copy_(b)

    def on_validation_epoch_start(self, trainer, module):
        if not trainer.sanity_checking:
            self.kept = {k: v.clone() for k, v in module.net.state_dict().items()}
            module.net.load_state_dict(self.copy.state_dict())

    def on_validation_epoch_end(self, trainer, module):
        if self.kept is not None:
            module.net.load_state_dict(self.kept)
            self.kept = None
