import math

import torch
from torch import nn


class Schedule:
    def __init__(self, steps=100):
        self.steps = steps
        self.betas = torch.linspace(1e-3, 0.06, steps)
        self.alpha_bar = (1 - self.betas).cumprod(0)

    def add_noise(self, x, eps, t):
        a = self.alpha_bar[t].view(-1, 1, 1)
        return a.sqrt() * x + (1 - a).sqrt() * eps


class PointDenoiser(nn.Module):
    """Denoises a set of 2-D points; each point sees the mean of the set."""

    def __init__(self, width=64):
        super().__init__()
        self.inp = nn.Linear(2, width)
        self.time = nn.Sequential(nn.Linear(16, width), nn.SiLU(), nn.Linear(width, width))
        self.mix = nn.ModuleList(nn.Linear(2 * width, width) for _ in range(3))
        self.out = nn.Linear(width, 2)

    def forward(self, x, t):
        f = torch.exp(-math.log(100) * torch.arange(8) / 8)
        a = t[:, None].float() * f
        h = self.inp(x) + self.time(torch.cat([a.sin(), a.cos()], 1))[:, None]
        for m in self.mix:
            h = h + torch.nn.functional.silu(m(torch.cat([h, h.mean(1, keepdim=True).expand_as(h)], -1)))
        return self.out(h)


def cosine_with_warmup(optimizer, warmup, total):
    def factor(step):
        if step < warmup:
            return step / max(1, warmup)
        return max(0.0, 0.5 * (1 + math.cos(math.pi * 0.5 * 2.0 * (step - warmup) / (total - warmup))))
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def rings(n, points=24, seed=0):
    g = torch.Generator().manual_seed(seed)
    r = 0.5 + torch.rand(n, 1, generator=g)
    ph = torch.rand(n, 1, generator=g) * 6.283
    a = ph + torch.linspace(0, 6.283, points + 1)[:-1]
    hinge = (torch.arange(points) < points // 2).float() * torch.rand(n, 1, generator=g)
    return torch.stack([r * a.cos() + hinge, r * a.sin()], -1)
