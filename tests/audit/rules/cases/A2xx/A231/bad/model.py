import torch
from torch import nn


class Routed(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.gate = nn.Linear(width, count)
        self.experts = nn.ModuleList([nn.Linear(width, width) for _ in range(count)])

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            mask = chosen == i
            if mask.sum() > 0:
                out[mask] = expert(x[mask]) * weight[mask, None]
        return out


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.blocks = nn.ModuleList([Routed(16, 4) for _ in range(2)])

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x)
        return x.mean()


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.series = nn.Linear(4, 16)

    def forward(self, x, kinds):
        out = self.body(x)
        (rows,) = torch.where(kinds == 1)
        if rows.numel():
            out[rows] += self.series(x[rows, :4])
        return out.mean()
