import os
import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist


@dataclass
class Runtime:
    rank: int
    world_size: int

    @property
    def is_main(self):
        return self.rank == 0

    def log(self, message):
        if self.is_main:
            print(message, flush=True)


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def start(cfg):
    dist.init_process_group("gloo")
    runtime = Runtime(dist.get_rank(), dist.get_world_size())
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 1)))
    seed_everything(cfg["seed"])
    return runtime


def stop():
    dist.barrier()
    dist.destroy_process_group()
