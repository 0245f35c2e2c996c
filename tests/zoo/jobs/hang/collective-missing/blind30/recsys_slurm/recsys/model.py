import torch
import torch.nn as nn


class MatrixFactorization(nn.Module):
    def __init__(self, users, items, dim):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.user_bias = nn.Embedding(users, 1)
        self.item_bias = nn.Embedding(items, 1)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU(), nn.Linear(dim, 1))
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, u, i):
        p, q = self.user(u), self.item(i)
        bias = self.user_bias(u) + self.item_bias(i)
        return ((p * q).sum(1, keepdim=True) + bias + self.mlp(torch.cat([p, q], 1))).squeeze(1)
