import torch
from torch import nn
from torch.utils.data import Dataset


class Shard(Dataset):
    """A contiguous part of the table for each rank; the last one takes what is left."""

    def __init__(self, rows, features, rank, world):
        g = torch.Generator().manual_seed(0)
        x = torch.randn(rows, features, generator=g)
        y = x.sum(1) + 0.1 * torch.randn(rows, generator=g)
        per_rank = rows // world
        self.x = x[rank * per_rank : (rank + 1) * per_rank]
        self.y = y[rank * per_rank : (rank + 1) * per_rank]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def mlp(features, hidden):
    return nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
