import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, count, dim):
        super().__init__()
        self.table = nn.Embedding(count, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, ids):
        e = self.table(ids)
        return e + self.mlp(e)


class TwoTower(nn.Module):
    def __init__(self, users, items, dim=24):
        super().__init__()
        self.users, self.items = Tower(users, dim), Tower(items, dim)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).mean(1) + self.bias
