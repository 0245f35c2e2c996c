import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, w=24):
        super().__init__()
        self.t = nn.Sequential(nn.Linear(16, w), nn.SiLU(), nn.Linear(w, w))
        self.a = nn.Conv2d(1, w, 3, padding=1)
        self.b = nn.Sequential(nn.GroupNorm(4, w), nn.SiLU(), nn.Conv2d(w, w, 3, padding=1))
        self.c = nn.Sequential(nn.GroupNorm(4, w), nn.SiLU(), nn.Conv2d(w, 1, 3, padding=1))
        self.register_buffer("freq", torch.exp(torch.linspace(0, 5, 8)))

    def forward(self, x, t):
        ang = t[:, None] * self.freq
        emb = self.t(torch.cat([ang.sin(), ang.cos()], 1))[:, :, None, None]
        h = self.a(x) + emb
        return self.c(h + self.b(h))


class Noiser:
    def __init__(self, steps=200):
        self.steps = steps
        betas = torch.linspace(1e-4, 0.04, steps)
        self.abar = torch.cumprod(1 - betas, 0)

    def add(self, x0, t, eps):
        a = self.abar[t].view(-1, 1, 1, 1)
        return a.sqrt() * x0 + (1 - a).sqrt() * eps
