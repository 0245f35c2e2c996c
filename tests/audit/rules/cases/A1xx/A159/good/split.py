import torch
import torch.distributed as dist
from torch.utils.data import random_split
from torch.utils.data.distributed import DistributedSampler


def after(dataset, seed):
    torch.manual_seed(seed)
    parts = random_split(dataset, [0.9, 0.1])
    torch.manual_seed(seed + dist.get_rank())
    return parts


def by_generator(dataset, seed, rank):
    torch.manual_seed(seed + rank)
    generator = torch.Generator().manual_seed(seed)
    return random_split(dataset, [0.9, 0.1], generator=generator)


def order(dataset, seed):
    return DistributedSampler(dataset, rank=dist.get_rank(), seed=seed)


def on_one_rank(dataset, seed):
    rank = dist.get_rank()
    if rank == 0:
        torch.manual_seed(seed + rank)
        return random_split(dataset, [0.9, 0.1])
    return None
