import math

import torch


def sample_contours(n, points=64, seed=0):
    """Closed curves: an ellipse with a few harmonics."""
    g = torch.Generator().manual_seed(seed)
    t = torch.linspace(0, 2 * math.pi, points + 1)[:-1]
    a = 0.6 + 0.8 * torch.rand(n, 1, generator=g)
    b = 0.6 + 0.8 * torch.rand(n, 1, generator=g)
    turn = 2 * math.pi * torch.rand(n, 1, generator=g)
    lobes = torch.randint(3, 7, (n, 1), generator=g)
    amp = 0.35 * torch.rand(n, 1, generator=g)
    r = 1 + amp * torch.sin(lobes * t + turn)
    return torch.stack([a * r * torch.cos(t + turn), b * r * torch.sin(t + turn)], 1)
