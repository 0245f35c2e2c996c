import torch
from torch import nn


class Halves(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, 2 * dim)

    def forward(self, x):
        a, b = self.fc(x).chunk(2, dim=-1)
        a += b
        return a


class Rows(nn.Module):
    def forward(self, x):
        rows = x.mean(0, keepdim=True)
        rows = torch.zeros_like(x)
        bias = x.expand(4, -1)
        bias += 1
        return rows + bias


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 4, 1)

    def forward(self, x):
        h = self.conv(x)
        e = torch.exp(h)
        first = e[:, 0]
        first.zero_()
        return e
