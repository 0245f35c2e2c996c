import torch
from torch import nn


class Fused(nn.Module):
    def __init__(self, d, chosen):
        super().__init__()
        self.both = nn.Parameter(torch.zeros(2 * d, d))
        self.copy = nn.Parameter(self.both.data[:d].clone())
        self.picked = nn.Parameter(self.both.data[chosen])

    def forward(self, x):
        query, key = self.both[:4], self.both[4:]
        return x @ query + x @ key + x @ self.copy + x @ self.picked


class Parted(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.both = nn.Parameter(torch.zeros(2 * d, d))
        self.query = nn.Parameter(self.both.data[:d])
        del self.both

    def forward(self, x):
        return x @ self.query


class Shorter(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2 * d, d))
        self.weight = nn.Parameter(self.weight.data[:d])

    def forward(self, x):
        return x @ self.weight
