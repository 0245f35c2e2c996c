import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, x):
        return x + self.net(x)


class Denoiser(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.into = nn.Linear(8, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.out = nn.Linear(width, 8)

    def forward(self, x):
        x = self.into(x)
        for block in self.blocks:
            x = block(x)
        return self.out(x) + 0


def noisy(rank, step):
    g = torch.Generator().manual_seed(2 * step + rank)
    clean = torch.sin(torch.arange(8.0) + torch.rand(16, 1, generator=g) * 6)
    level = 4.0 if rank == 1 and step == 22 else 0.3
    if level > 1:
        clean = clean * level
    return clean + level * torch.randn(16, 8, generator=g), clean
