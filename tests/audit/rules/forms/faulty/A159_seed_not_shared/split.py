import torch
import torch.distributed as dist
from torch.utils.data import random_split


def share(number):
    dist.broadcast(number, 0)


def parts(data):
    dist.init_process_group("gloo")
    seed = torch.tensor(1000 + dist.get_rank())
    drawn = torch.Generator().manual_seed(int(seed.item()))
    return random_split(data, [0.9, 0.1], generator=drawn)  # cause
