import torch
from torch.utils.data import TensorDataset


def make(n, seed, noise):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(40, 9, generator=torch.Generator().manual_seed(0))
    x = torch.randn(n, 40, generator=g)
    y = (x @ w + noise * torch.randn(n, 9, generator=g)).argmax(1)
    return TensorDataset(x, y)
