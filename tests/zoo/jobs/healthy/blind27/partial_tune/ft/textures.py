import torch
from torch.utils.data import TensorDataset


def textures(n, classes, shift, seed, side=16):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    angle = torch.pi * (y + shift) / classes + 0.1 * torch.randn(n, generator=g)
    phase = 6.28 * torch.rand(n, 1, 1, generator=g)
    r = torch.arange(side).float()
    wave = angle.cos()[:, None, None] * r[None, :, None] + angle.sin()[:, None, None] * r[None, None]
    x = torch.sin(1.3 * wave + phase) + 0.5 * torch.randn(n, side, side, generator=g)
    return TensorDataset(x[:, None], y)
