import torch
from torch import nn


def build(width):
    return nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, 1))


def batches(rank, n):
    g = torch.Generator().manual_seed(rank)
    for _ in range(n):
        x = torch.randn(64, 8, generator=g)
        yield x, x.prod(1, keepdim=True).tanh()
