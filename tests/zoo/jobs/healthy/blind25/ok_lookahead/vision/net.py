import torch
from torch import nn


class Patchify(nn.Module):
    def __init__(self, dim=96, depth=3, classes=8):
        super().__init__()
        self.stem = nn.Conv2d(1, dim, 4, 4)
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
                                    for _ in range(depth))
        self.head = nn.Linear(25 * dim, classes)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        for b in self.blocks:
            x = x + b(x)
        return self.head(x.flatten(1))


def gratings(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(8, (n,), generator=g)
    angle = y.float() * torch.pi / 8 + 0.08 * torch.randn(n, generator=g)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, 20), torch.linspace(-1, 1, 20), indexing="ij")
    phase = torch.rand(n, generator=g) * 2 * torch.pi
    wave = torch.sin(9 * (angle.cos()[:, None, None] * xx + angle.sin()[:, None, None] * yy) + phase[:, None, None])
    return (wave + 0.5 * torch.randn(n, 20, 20, generator=g))[:, None], y
