import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


@dataclass
class Runtime:
    rank: int
    world: int

    @classmethod
    def from_env(cls):
        world = int(os.environ.get("WORLD_SIZE", 1))
        if world > 1:
            dist.init_process_group("gloo")
        return cls(int(os.environ.get("RANK", 0)), world)

    def wrap(self, module):
        return DistributedDataParallel(module) if self.world > 1 else module

    def unwrap(self, module):
        return module.module if isinstance(module, DistributedDataParallel) else module

    def mean(self, value):
        t = torch.tensor(float(value))
        if self.world > 1:
            dist.all_reduce(t)
        return t.item() / self.world

    def close(self):
        if self.world > 1:
            dist.barrier()
            dist.destroy_process_group()
