import math

import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, window=32, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(window, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def series(n=6000, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(n) / 25.0
    return torch.sin(t) + 0.4 * torch.sin(t * math.pi) + 0.05 * torch.randn(n, generator=g)


class Member:
    """One trainer of the population: its own weights, its own learning rate."""

    def __init__(self, seed, lr, window=32):
        torch.manual_seed(seed)
        self.model = Forecaster(window)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        windows = series().unfold(0, window + 1, 1)
        self.train, self.valid = windows[:4800], windows[4900:]
        self.rng = torch.Generator().manual_seed(seed)

    @property
    def lr(self):
        return self.opt.param_groups[0]["lr"]

    @lr.setter
    def lr(self, value):
        for group in self.opt.param_groups:
            group["lr"] = value

    def explore(self, factor):
        self.lr = min(0.2, max(1e-4, self.lr * factor))

    def advance(self, steps, batch=64):
        for _ in range(steps):
            rows = self.train[torch.randint(len(self.train), (batch,), generator=self.rng)]
            loss = nn.functional.mse_loss(self.model(rows[:, :-1]), rows[:, -1])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()

    @torch.no_grad()
    def score(self):
        return -nn.functional.mse_loss(self.model(self.valid[:, :-1]), self.valid[:, -1]).item()
