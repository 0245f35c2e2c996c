import os

import torch
import torch.distributed as dist


class BestCheckpoint:
    """Keeps the state with the highest value of ``monitor``; files are named after epoch and value."""

    def __init__(self, folder, monitor="val_mrr"):
        self.folder, self.monitor = folder, monitor
        self.best_value, self.best_path = float("-inf"), None
        self.best_state = None
        os.makedirs(folder, exist_ok=True)

    def on_validation_end(self, module, epoch, metrics):
        value = metrics[self.monitor]
        if value <= self.best_value:
            return False
        self.best_value = value
        self.best_state = {k: v.detach().clone() for k, v in module.state_dict().items()}
        if dist.get_rank() == 0:
            if self.best_path:
                os.remove(self.best_path)
            self.best_path = os.path.join(self.folder, f"epoch={epoch}-{self.monitor}={value:.4f}.pt")
            torch.save(self.best_state, self.best_path)
        return True

    def restore(self, module):
        module.load_state_dict(self.best_state)
