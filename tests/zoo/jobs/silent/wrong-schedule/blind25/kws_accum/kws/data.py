import math

import torch
from torch.utils.data import TensorDataset


def synth(n, seed, classes=12, length=800):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    t = torch.arange(length) / length
    low = 12 + 5.0 * (y % 4).float()
    high = 45 + 9.0 * (y // 4).float()
    jitter = torch.randn(n, 2, generator=g) * 0.9
    phase = torch.rand(n, 2, generator=g) * 2 * math.pi
    x = torch.sin(2 * math.pi * (low + jitter[:, 0])[:, None] * t + phase[:, :1])
    x = x + 0.7 * torch.sin(2 * math.pi * (high + jitter[:, 1])[:, None] * t + phase[:, 1:])
    x = x + 0.8 * torch.randn(n, length, generator=g)
    return TensorDataset(x[:, None], y)
