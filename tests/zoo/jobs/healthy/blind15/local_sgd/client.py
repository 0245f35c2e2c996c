import torch


def hospital(index, n=1200):
    """Every site has patients of its own kind."""
    g = torch.Generator().manual_seed(900 + index)
    x = torch.randn(n, 14, generator=g)
    x[:, 0] += 0.8 * (-1) ** index
    risk = x[:, 1] - 0.7 * x[:, 2] * x[:, 3] + 0.3 * x[:, 0]
    return x, (risk + 0.3 * torch.randn(n, generator=g) > 0).float()
