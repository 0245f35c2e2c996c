import torch
from torch import nn


class Warmed(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)
        self.register_buffer("scale", torch.ones(dim))
        self.register_buffer("mean", torch.zeros(dim))

    def forward(self, x):
        h = self.fc(x)
        y = h * self.scale
        with torch.no_grad():
            self.scale.mul_(0.99)
        self.mean.mul_(0.9).add_(0.1 * h.mean(0))
        return y - self.mean


class Memory(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.cell = nn.Linear(dim, dim)
        self.register_buffer("state", torch.zeros(1, dim))

    def forward(self, x):
        h = self.cell(x) + self.state
        self.state = h
        return h
