import torch
from torch.utils.data import TensorDataset


def make(n, dim, classes, seed, foreign=0.0):
    gen = torch.Generator().manual_seed(seed)
    w = torch.randn(dim, classes, generator=torch.Generator().manual_seed(7))
    x = torch.randn(n, dim, generator=gen)
    y = (x @ w).argmax(1)
    k = int(n * foreign)
    if k:
        # the second source was labelled by another team with its own guideline
        y[n - k:] = (y[n - k:] + 1) % classes
    return TensorDataset(x, y)


def splits(dim=32, classes=10):
    return make(2048, dim, classes, 1), make(512, dim, classes, 2, foreign=0.12)
