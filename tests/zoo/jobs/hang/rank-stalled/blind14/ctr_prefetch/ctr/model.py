import torch
from torch import nn


class DeepCTR(nn.Module):
    def __init__(self, users=500, items=300, dim=24):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.mlp = nn.Sequential(nn.Linear(3 * dim, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, user, item, hist):
        h = self.item(hist).mean(1)
        return self.mlp(torch.cat([self.user(user), self.item(item), h], -1)).squeeze(-1)
