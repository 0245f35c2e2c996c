import torch
from torch import nn


def make_model():
    return nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))


def batches(rank, epoch, count=6, size=64):
    g = torch.Generator().manual_seed(1000 * epoch + rank)
    for _ in range(count):
        p = torch.rand(size, 2, generator=g)
        yield p, torch.sin(torch.pi * p[:, :1]) * p[:, 1:]
