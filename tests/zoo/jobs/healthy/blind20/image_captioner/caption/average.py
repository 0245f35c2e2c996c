import copy

import torch


class WeightAverage:
    """Moving average for evaluation. Kept by the main process only."""

    def __init__(self, model, decay):
        self.model, self.decay = copy.deepcopy(model).eval(), decay

    @torch.no_grad()
    def update(self, model):
        for average, value in zip(self.model.state_dict().values(), model.state_dict().values()):
            if average.is_floating_point():
                average.lerp_(value, 1 - self.decay)
            else:
                average.copy_(value)
