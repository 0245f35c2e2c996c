import os
from pathlib import Path

import torch
import torch.distributed as dist


class SnapshotStore:
    def __init__(self, path, device):
        self.path = Path(path)
        self.device = device

    def exists(self):
        return self.path.is_file()

    def write(self, model, optimizer, epoch):
        if dist.get_rank() == 0:
            state = {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
            tmp = self.path.with_name(self.path.name + ".part")
            torch.save(state, tmp)
            os.replace(tmp, self.path)
        dist.barrier()

    def read(self):
        return torch.load(self.path, map_location=self.device)

    def restore(self, model, optimizer):
        state = self.read()
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        return state["epoch"] + 1
