import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.up = nn.Linear(d, 4 * d)
        self.down = nn.Linear(4 * d, d)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Denoiser(nn.Module):
    def __init__(self, d=96, depth=4):
        super().__init__()
        self.inp = nn.Linear(33, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range(depth))
        self.out = nn.Linear(d, 32)

    def forward(self, x, t):
        h = self.inp(torch.cat([x, t[:, None]], 1))
        for b in self.blocks:
            h = b(h)
        return self.out(h)
