import torch
from torch import nn


class NoiseSchedule:
    def __init__(self, steps=100):
        self.betas = torch.linspace(1e-4, 0.08, steps)
        self.alphas_bar = torch.cumprod(1 - self.betas, 0)
        self.steps = steps

    def add_noise(self, x, noise, t):
        a = self.alphas_bar[t].view(-1, 1)
        return a.sqrt() * x + (1 - a).sqrt() * noise

    @torch.no_grad()
    def sample(self, model, n, dim, generator):
        x = torch.randn(n, dim, generator=generator)
        for t in reversed(range(self.steps)):
            eps = model(x, torch.full((n,), t))
            beta, a = self.betas[t], self.alphas_bar[t]
            x = (x - beta / (1 - a).sqrt() * eps) / (1 - beta).sqrt()
            if t:
                x = x + beta.sqrt() * torch.randn(n, dim, generator=generator)
        return x


class Denoiser(nn.Module):
    def __init__(self, dim, hidden=96, steps=100):
        super().__init__()
        self.time = nn.Embedding(steps, hidden)
        self.inp = nn.Linear(dim, hidden)
        self.mid = nn.Sequential(nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.out = nn.Linear(hidden, dim)

    def forward(self, x, t):
        return self.out(self.mid(self.inp(x) + self.time(t)))
