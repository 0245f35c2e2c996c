import os
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Runtime:
    rank: int
    local: int
    world: int

    @classmethod
    def from_env(cls):
        return cls(
            rank=int(os.environ.get("RANK", 0)),
            local=int(os.environ.get("LOCAL_RANK", 0)),
            world=int(os.environ.get("WORLD_SIZE", 1)),
        )

    @property
    def device(self):
        return torch.device("cuda", self.local)

    @property
    def chief(self):
        return self.rank == 0

    def start(self):
        torch.cuda.set_device(self.device)
        dist.init_process_group("nccl", rank=self.rank, world_size=self.world)
        return self
