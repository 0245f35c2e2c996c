import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, tokens=8, dim=16, classes=4):
        super().__init__()
        self.proj = nn.Linear(6, dim)
        self.token = nn.Sequential(nn.LayerNorm(tokens), nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens))
        self.channel = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, dim))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.proj(x)
        x = x + self.token(x.transpose(1, 2)).transpose(1, 2)
        x = x + self.channel(x)
        return self.head(x.mean(1))
