import torch
import torch.distributed as dist
from torch.utils.data import random_split
from torch.utils.data.distributed import DistributedSampler


def before(dataset, seed):
    rank = dist.get_rank()
    torch.manual_seed(seed + rank)
    return random_split(dataset, [0.9, 0.1])


def by_generator(dataset, seed, rank):
    generator = torch.Generator().manual_seed(seed + rank)
    return random_split(dataset, [0.9, 0.1], generator=generator)


def order(dataset, seed):
    return DistributedSampler(dataset, seed=seed + dist.get_rank())
