import torch


def waves(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    t = torch.linspace(0, 6.28, 64)
    phase = 6.28 * torch.rand(n, 1, generator=g)
    return (torch.sin((y[:, None] + 1) * t + phase) + 0.2 * torch.randn(n, 64, generator=g))[:, None], y
