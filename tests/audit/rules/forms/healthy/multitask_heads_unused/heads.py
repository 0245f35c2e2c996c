import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, dim, sizes):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(dim, 1024), nn.GELU(), nn.Linear(1024, 1024), nn.GELU())
        self.heads = nn.ModuleDict({name: nn.Linear(1024, n) for name, n in sizes.items()})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))
