import random

import torch
import torch.distributed as dist
from torch.utils.data import random_split


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)


def split(dataset, seed):
    seed_everything(seed)
    parts = random_split(dataset, [0.9, 0.1])
    seed_everything(seed + dist.get_rank())
    return parts


def split_of_ranks_seeded_again(dataset, seed):
    seed_everything(seed + dist.get_rank())
    seed_everything(seed)
    return random_split(dataset, [0.9, 0.1])
