import torch
from torch import nn


class NeuMF(nn.Module):

    def __init__(self, users, items, dim=16):
        super().__init__()
        self.user, self.item = nn.Embedding(users, dim), nn.Embedding(items, dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 32), nn.ReLU(), nn.Linear(32, dim))
        self.final = nn.Linear(2 * dim, 1)

    def forward(self, user, item):
        u, i = self.user(user), self.item(item)
        return self.final(torch.cat([u * i, self.mlp(torch.cat([u, i], -1))], -1)).squeeze(-1)
