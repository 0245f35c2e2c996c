import torch
from torch import nn


class FlowTransformer(nn.Module):

    def __init__(self, dim=16, hidden=48, depth=2):
        super().__init__()
        self.time = nn.Linear(1, dim)
        self.blocks = nn.ModuleList(
            [nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim)) for _ in range(depth)]
        )

    def forward(self, x, t):
        x = x + self.time(t)
        for block in self.blocks:
            x = x + block(x)
        return x
