import os
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass
class Env:
    rank: int
    world: int
    seed: int

    @classmethod
    def start(cls, seed):
        dist.init_process_group("gloo")
        rank = int(os.environ["RANK"])
        local = seed * 1000 + rank
        torch.manual_seed(local)
        return cls(rank, int(os.environ["WORLD_SIZE"]), local)
