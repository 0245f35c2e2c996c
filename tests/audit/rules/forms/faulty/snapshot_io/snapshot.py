import os
from dataclasses import dataclass, field

import torch
import torch.distributed as dist


@dataclass
class SnapshotIO:
    path: str
    load_kwargs: dict = field(default_factory=lambda: {"weights_only": True})  # cause

    def exists(self):
        return os.path.isfile(self.path)

    def read(self):
        return torch.load(self.path, **self.load_kwargs)  # cause

    def write(self, payload):
        if dist.get_rank() == 0:
            tmp = self.path + ".tmp"
            torch.save(payload, tmp)
            os.replace(tmp, self.path)
        dist.barrier()
