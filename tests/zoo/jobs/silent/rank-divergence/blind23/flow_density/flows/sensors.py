import torch


def readings(n, seed, dim=8):
    """Heavy-tailed sensor vectors from one plant."""
    g = torch.Generator().manual_seed(seed)
    mix = torch.randn(dim, dim, generator=torch.Generator().manual_seed(99))
    u = torch.randn(n, dim, generator=g)
    tail = torch.exp(0.8 * torch.randn(n, 1, generator=g))
    x = (u * tail) @ mix
    x[:, 0] = x[:, 0] + 0.2 * x[:, 1] ** 2
    return 3.0 * x + 5.0
