import torch
from torch.utils.data import TensorDataset


def load(split, n, seed):
    """Composition vectors with a measured or computed gap; the measured ones come last."""
    g = torch.Generator().manual_seed(seed)
    comp = torch.rand(n, 24, generator=g)
    comp = comp / comp.sum(1, keepdim=True)
    w = torch.randn(24, generator=torch.Generator().manual_seed(1))
    gap = (comp * 24) @ w / 4 + torch.sin(comp[:, 0] * 40)
    noise = torch.full((n,), 0.05)
    if split == "val":
        noise[n // 2:] = 0.9
    return TensorDataset(comp * 24, gap + noise * torch.randn(n, generator=g))
