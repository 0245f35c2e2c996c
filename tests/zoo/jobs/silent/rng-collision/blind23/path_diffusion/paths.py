import torch


def walks(n, seed, points=16):
    """Mouse paths: smooth curves in the plane, flattened to 2 * points numbers."""
    g = torch.Generator().manual_seed(seed)
    s = torch.linspace(0, 1, points)
    a = torch.randn(n, 2, 3, generator=g) / torch.tensor([1.0, 2.0, 3.0])
    basis = torch.stack([torch.sin(torch.pi * (k + 1) * s) for k in range(3)])
    return (a @ basis).flatten(1)
