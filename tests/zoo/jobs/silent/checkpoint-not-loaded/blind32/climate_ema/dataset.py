import torch
from torch.utils.data import TensorDataset


def make(samples, grid, seed, noise):
    """Pairs of states of an advected and damped field."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(samples, 2, grid, grid, generator=g)
    for _ in range(3):
        x = (x + x.roll(1, 2) + x.roll(1, 3)) / 3
    x = x / x.std()
    y = 0.9 * x.roll((1, 2), (2, 3)) + 0.1 * x.flip(1) + noise * torch.randn(x.shape, generator=g)
    cut = samples * 3 // 4
    return TensorDataset(x[:cut], y[:cut]), TensorDataset(x[cut:], y[cut:])
