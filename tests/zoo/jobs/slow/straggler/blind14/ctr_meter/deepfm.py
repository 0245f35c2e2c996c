import torch
from torch import nn


class DeepFM(nn.Module):
    def __init__(self, fields=8, card=200, dim=16, width=256):
        super().__init__()
        self.linear = nn.Embedding(fields * card, 1)
        self.factor = nn.Embedding(fields * card, dim)
        self.register_buffer("shift", torch.arange(fields) * card)
        self.deep = nn.Sequential(nn.Linear(fields * dim, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, ids):
        ids = ids + self.shift
        v = self.factor(ids)
        fm = 0.5 * (v.sum(1).pow(2) - v.pow(2).sum(1)).sum(1)
        return self.linear(ids).sum((1, 2)) + fm + self.deep(v.flatten(1)).squeeze(1)
