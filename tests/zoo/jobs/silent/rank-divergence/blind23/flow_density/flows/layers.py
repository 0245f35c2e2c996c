import math

import torch
import torch.nn as nn


class ActNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(1, dim))
        self.log_scale = nn.Parameter(torch.zeros(1, dim))
        self.register_buffer("initialized", torch.tensor(0, dtype=torch.uint8))

    @torch.no_grad()
    def initialize(self, x):
        mean, std = x.mean(0, keepdim=True), x.std(0, keepdim=True)
        self.loc.data.copy_(-mean)
        self.log_scale.data.copy_(-torch.log(std + 1e-6))

    def forward(self, x):
        if self.initialized.item() == 0:
            self.initialize(x)
            self.initialized.fill_(1)
        return (x + self.loc) * self.log_scale.exp(), self.log_scale.sum().expand(len(x))


class LinearLU(nn.Module):
    def __init__(self, dim):
        super().__init__()
        q, _ = torch.linalg.qr(torch.randn(dim, dim))
        self.weight = nn.Parameter(q)

    def forward(self, x):
        return x @ self.weight, torch.linalg.slogdet(self.weight)[1].expand(len(x))


class AffineCoupling(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.half = dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, 2 * (dim - self.half)))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x[:, : self.half], x[:, self.half:]
        shift, log_s = self.net(a).chunk(2, 1)
        log_s = torch.tanh(log_s)
        return torch.cat([a, (b + shift) * log_s.exp()], 1), log_s.sum(1)


class Flow(nn.Module):
    def __init__(self, dim, steps, hidden):
        super().__init__()
        layers = []
        for _ in range(steps):
            layers += [ActNorm(dim), LinearLU(dim), AffineCoupling(dim, hidden)]
        self.layers, self.dim = nn.ModuleList(layers), dim

    def forward(self, x):
        total = torch.zeros(len(x))
        for layer in self.layers:
            x, logdet = layer(x)
            total = total + logdet
        return -0.5 * (x.pow(2).sum(1) + self.dim * math.log(2 * math.pi)) + total
