import math

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, dim=2, width=160):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, math.log(200.0), 16)))
        self.net = nn.Sequential(nn.Linear(dim + 32, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, width), nn.SiLU(), nn.Linear(width, dim))

    def forward(self, x, t):
        a = t[:, None] * self.freq
        return self.net(torch.cat([x, a.sin(), a.cos()], -1))


def alpha_bar(t):
    return torch.cos(t * math.pi / 2 * 0.98) ** 2


def sample_points(n, generator=None):
    k = torch.randint(8, (n,), generator=generator).float()
    ang = k * math.pi / 4
    centre = torch.stack([ang.cos(), ang.sin()], -1) * 1.6
    return centre + 0.08 * torch.randn(n, 2, generator=generator)


def training_loss(model, x0):
    t = torch.rand(len(x0))
    noise = torch.randn_like(x0)
    ab = alpha_bar(t)[:, None]
    return ((model(ab.sqrt() * x0 + (1 - ab).sqrt() * noise, t) - noise) ** 2).mean()
