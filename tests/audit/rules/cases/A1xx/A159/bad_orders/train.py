"""A seed per rank set by the caller, orders dealt out by it, an epoch drawn by each rank, a split that nothing fixes."""
import random

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import random_split


def share(count, rank, world):
    order = np.random.permutation(count)
    return order[rank::world]


def split(data):
    return random_split(data, [len(data) - 8, 8])


def seed_all(value, rank=None):
    if rank is not None:
        value += rank * 1000
    torch.manual_seed(value)
    np.random.seed(value)


def main(data, sampler):
    dist.init_process_group("gloo")
    seed_all(7, rank=dist.get_rank())
    train, _ = split(data)
    mine = share(len(train), dist.get_rank(), dist.get_world_size())
    return mine
