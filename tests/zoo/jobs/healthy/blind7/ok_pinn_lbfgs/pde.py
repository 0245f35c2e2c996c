import math

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, width=20):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, xt):
        return self.net(xt)


def collocation(n):
    g = torch.Generator().manual_seed(0)
    inner = torch.rand(n, 2, generator=g)
    x = torch.rand(n // 4, 1, generator=g)
    start = torch.cat([x, torch.zeros_like(x)], 1)
    return inner, start, torch.sin(2 * math.pi * x)


def residual(field, xt, speed=0.5):
    xt = xt.clone().requires_grad_(True)
    (grad,) = torch.autograd.grad(field(xt).sum(), xt, create_graph=True)
    return grad[:, 1] + speed * grad[:, 0]


def loss_of(field, points):
    inner, start, value = points
    return residual(field, inner).pow(2).mean() + 10 * (field(start) - value).pow(2).mean()
