import torch
from torch.utils.data import DataLoader, RandomSampler
from torch.utils.data.distributed import DistributedSampler


def build(dataset, distributed):
    one = DataLoader(dataset, sampler=RandomSampler(dataset), shuffle=True)
    sampler = DistributedSampler(dataset)
    two = DataLoader(dataset, 16, True, sampler)
    maybe = DistributedSampler(dataset) if distributed else None
    choice = None
    if distributed:
        choice = DistributedSampler(dataset)
    three = DataLoader(dataset, sampler=choice, shuffle=True)
    return one, two, three, DataLoader(dataset, sampler=maybe, shuffle=True)
