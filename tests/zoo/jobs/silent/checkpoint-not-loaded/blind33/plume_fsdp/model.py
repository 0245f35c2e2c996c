import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, points, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.space = nn.Linear(points, points)
        self.channel = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.space(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel(self.norm2(x))


class PlumeNet(nn.Module):
    """Concentration after a time step, from concentration and wind."""

    def __init__(self, points=32, width=32, depth=3):
        super().__init__()
        self.lift = nn.Linear(2, width)
        self.blocks = nn.ModuleList(Mixer(points, width) for _ in range(depth))
        self.project = nn.Linear(width, 1)

    def forward(self, conc, wind):
        x = self.lift(torch.stack([conc, wind], -1))
        for block in self.blocks:
            x = block(x)
        return conc + self.project(x).squeeze(-1)
