import torch
from torch.utils.data import TensorDataset


def make(n, seed, classes=10, size=12):
    """Textures: each class is a mixture of two waves, in noise and at any phase."""
    g = torch.Generator().manual_seed(seed)
    proto = torch.Generator().manual_seed(1234)
    freq = torch.rand(classes, 2, 2, generator=proto) * 2.0 + 0.3
    y = torch.randint(classes, (n,), generator=g)
    xs = torch.arange(size).float()
    phase = torch.rand(n, 2, generator=g) * 6.283
    f = freq[y]
    waves = torch.sin(f[:, :, 0, None, None] * xs[None, None, :, None] + f[:, :, 1, None, None] * xs[None, None, None, :] + phase[:, :, None, None])
    x = waves + 0.9 * torch.randn(n, 2, size, size, generator=g)
    return TensorDataset(x, y)
