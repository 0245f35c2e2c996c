import os
import random

import numpy as np
import torch
import torch.distributed as dist


def init_distributed_mode():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    return dist.get_rank(), dist.get_world_size()


def fix_random_seeds(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class SmoothedValue:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, n=1):
        self.total += value * n
        self.count += n

    def synchronize(self):
        t = torch.tensor([self.total, self.count], dtype=torch.float64)
        dist.all_reduce(t)
        return (t[0] / t[1]).item()


def save_on_master(obj, path):
    if int(os.environ.get("RANK", 0)) == 0:
        torch.save(obj, path)
