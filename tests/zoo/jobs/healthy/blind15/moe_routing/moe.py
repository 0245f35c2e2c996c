import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def forward(self, x):
        return self.net(x)


class SwitchLayer(nn.Module):
    """Top-1 routing; an expert that gets no token in a batch is not run."""

    def __init__(self, dim, hidden, experts, seed=1):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList([Expert(dim, hidden) for _ in range(experts)])
        self.register_buffer("usage", torch.zeros(experts), persistent=False)

    def forward(self, x):
        prob = self.gate(x).softmax(-1)
        top, where = prob.max(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (where == i).nonzero(as_tuple=True)[0]
            if rows.numel():
                out = out.index_add(0, rows, expert(x[rows]) * top[rows, None])
        share = torch.bincount(where, minlength=len(self.experts)) / len(x)
        return x + out, (share * prob.mean(0)).sum() * len(self.experts)


class Net(nn.Module):
    def __init__(self, features=8, dim=32, experts=6):
        super().__init__()
        self.inp = nn.Linear(features, dim)
        self.moe = SwitchLayer(dim, 64, experts)
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        h, balance = self.moe(torch.relu(self.inp(x)))
        return self.out(h).squeeze(1), balance
