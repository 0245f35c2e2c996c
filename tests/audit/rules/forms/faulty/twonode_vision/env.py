import os
from dataclasses import dataclass, field
from datetime import timedelta

import torch
import torch.distributed as dist


@dataclass
class World:
    rank: int = field(default_factory=lambda: int(os.environ["RANK"]))
    local_rank: int = field(default_factory=lambda: int(os.environ["LOCAL_RANK"]))
    size: int = field(default_factory=lambda: int(os.environ["WORLD_SIZE"]))

    @property
    def device(self):
        return torch.device("cuda", self.rank)  # cause

    @property
    def chief(self):
        return self.rank == 0

    def open(self):
        torch.cuda.set_device(self.device)  # cause
        dist.init_process_group("nccl", timeout=timedelta(minutes=20))
        return self

    def close(self):
        dist.barrier(device_ids=[self.device.index])
        dist.destroy_process_group()
