import torch
from torch import nn


class ResidualStep(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.lift = nn.Linear(dim, hidden)
        self.mix = nn.Linear(hidden, hidden)
        self.lower = nn.Linear(hidden, dim)

    def forward(self, z):
        h = torch.tanh(self.lift(z))
        h = torch.tanh(self.mix(h))
        return z + self.lower(h)
