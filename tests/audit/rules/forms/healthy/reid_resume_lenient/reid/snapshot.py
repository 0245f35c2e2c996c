import os
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist


class Snapshot:
    def __init__(self, path):
        self.path = Path(path)

    def write(self, model, optimizer, epoch):
        if dist.get_rank() == 0:
            blob = {"net": model.module.state_dict(), "opt": optimizer.state_dict(), "epoch": epoch}
            fd, tmp = tempfile.mkstemp(dir=self.path.parent)
            os.close(fd)
            torch.save(blob, tmp)
            os.replace(tmp, self.path)
        dist.barrier()

    def read(self, model, optimizer):
        if not self.path.exists():
            return 0
        blob = torch.load(self.path, map_location="cpu", weights_only=True)
        model.module.load_state_dict(blob["net"])
        optimizer.load_state_dict(blob["opt"])
        return blob["epoch"] + 1
