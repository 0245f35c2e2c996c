import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


def points(rank, count=256):
    g = torch.Generator().manual_seed(rank)
    x = torch.rand(count, 1, generator=g) * 4 - 2
    return x, torch.sin(3 * x)
