import torch
from torch.utils.data import TensorDataset


def make(count, size, classes, seed):
    gen = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, classes, (count,), generator=gen)
    axis = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    radius = (xx**2 + yy**2).sqrt()
    angle = torch.atan2(yy, xx)
    turn = torch.rand(count, 1, 1, generator=gen) * 6.28
    arms = kind.view(-1, 1, 1).float()
    light = torch.exp(-3 * radius) * (1 + 0.8 * torch.cos(arms * angle + 5 * radius + turn))
    light = light + 0.05 * torch.randn(count, size, size, generator=gen)
    return TensorDataset(light.unsqueeze(1), kind)
