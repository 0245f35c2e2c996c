import torch
from torch.utils.data import TensorDataset


def scenes(n, seed, size=24):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    c = torch.rand(n, 2, generator=g) * 12 + 6
    half = torch.rand(n, 2, generator=g) * 3 + 2.5
    kind = torch.randint(4, (n,), generator=g)
    dx = (xx - c[:, 0, None, None]).abs() / half[:, 0, None, None]
    dy = (yy - c[:, 1, None, None]).abs() / half[:, 1, None, None]
    square = torch.maximum(dx, dy)
    masks = torch.stack([square < 1, dx**2 + dy**2 < 1, dx + dy < 1, (square < 1) & (square > 0.6)], 1)
    img = masks[torch.arange(n), kind].float() + 0.35 * torch.randn(n, size, size, generator=g)
    boxes = torch.cat([c / size, 2 * half / size], 1)
    return TensorDataset(img[:, None], boxes, kind)
