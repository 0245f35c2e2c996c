import torch
from torch import nn


class FactorizationMachine(nn.Module):
    def __init__(self, users=300, items=500, width=16):
        super().__init__()
        self.u, self.i = nn.Embedding(users, width), nn.Embedding(items, width)
        self.bu, self.bi = nn.Embedding(users, 1), nn.Embedding(items, 1)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, user, item):
        return (self.u(user) * self.i(item)).sum(-1) + self.bu(user)[:, 0] + self.bi(item)[:, 0] + self.bias
