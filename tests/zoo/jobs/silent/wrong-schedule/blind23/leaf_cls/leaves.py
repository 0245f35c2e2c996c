import torch


def leaves(n, seed, classes=8, size=16):
    """Leaf outlines as radial images, with shading and label noise of 10 %."""
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (n,), generator=g)
    grid = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    r, a = (xx**2 + yy**2).sqrt(), torch.atan2(yy, xx)
    turn = 6.283 * torch.rand(n, 1, 1, generator=g)
    lobes = (y % 4 + 2).view(-1, 1, 1)
    depth = 0.12 + 0.12 * (y // 4).view(-1, 1, 1)
    edge = 0.6 + depth * torch.cos(lobes * (a - turn))
    x = torch.sigmoid(12 * (edge - r)) + 0.3 * torch.randn(n, size, size, generator=g)
    noisy = torch.rand(n, generator=g) < 0.1
    label = torch.where(noisy, torch.randint(classes, (n,), generator=g), y)
    return x.unsqueeze(1), y, label
