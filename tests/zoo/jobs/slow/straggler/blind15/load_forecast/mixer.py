import torch
from torch import nn


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mix = nn.Linear(tokens, tokens)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.mix(self.n1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mlp(self.n2(x))


class Mixer(nn.Module):
    def __init__(self, tokens=24, features=8, dim=96, depth=3):
        super().__init__()
        self.inp = nn.Linear(features, dim)
        self.blocks = nn.Sequential(*[MixerBlock(tokens, dim) for _ in range(depth)])
        self.out = nn.Linear(dim, features)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)).mean(1))
