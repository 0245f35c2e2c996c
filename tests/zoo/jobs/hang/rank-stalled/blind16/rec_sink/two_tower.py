import torch
from torch import nn


class TwoTower(nn.Module):
    def __init__(self, users, items, dim):
        super().__init__()
        self.u = nn.Embedding(users, dim)
        self.i = nn.Embedding(items, dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, u, i):
        return self.proj(self.u(u)) @ self.i(i).T


class Interactions:
    def __init__(self, rank, users, items):
        self.g = torch.Generator().manual_seed(rank + 12)
        self.users, self.items = users, items
        self.clicks = torch.zeros(items, dtype=torch.long)

    def batch(self, n):
        u = torch.randint(0, self.users, (n,), generator=self.g)
        i = (u * 7 + torch.randint(0, 5, (n,), generator=self.g)) % self.items
        i[: n // 4] = torch.randint(0, 3, (n // 4,), generator=self.g)
        self.clicks.index_add_(0, i, torch.ones_like(i))
        return u, i
