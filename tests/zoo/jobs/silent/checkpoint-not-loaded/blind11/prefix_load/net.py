import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))


def target(x):
    return (x[:, :1] * 2 - x[:, 1:2]).sin()


def batch(seed):
    x = torch.randn(64, 12, generator=torch.Generator().manual_seed(seed))
    return x, target(x)
