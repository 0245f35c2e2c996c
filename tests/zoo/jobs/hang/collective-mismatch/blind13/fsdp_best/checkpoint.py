import os

import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict


class Keeper:
    def __init__(self, folder, patience=10):
        self.folder, self.patience = folder, patience
        self.best = float("inf")
        self.bad = 0

    def update(self, model, score, epoch):
        if score < self.best:
            self.best, self.bad = score, 0
            self._write(model, epoch)
        else:
            self.bad += 1

    @property
    def exhausted(self):
        return self.bad >= self.patience

    def _write(self, model, epoch):
        state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
        if dist.get_rank() == 0:
            os.makedirs(self.folder, exist_ok=True)
            torch.save({"model": state, "epoch": epoch}, os.path.join(self.folder, "best.pt"))
