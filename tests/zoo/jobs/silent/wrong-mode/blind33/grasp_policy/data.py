import torch
from torch.utils.data import TensorDataset


def render(n, seed, gain, offset, size=16):
    g = torch.Generator().manual_seed(seed)
    centre = torch.rand(n, 2, generator=g) * 0.8 + 0.1
    axis = torch.linspace(0, 1, size)
    d = (axis[None, :, None] - centre[:, 0, None, None]) ** 2 + (axis[None, None, :] - centre[:, 1, None, None]) ** 2
    image = torch.exp(-d / 0.02) + 0.1 * torch.randn(n, size, size, generator=g)
    return (gain * image + offset)[:, None], centre


def pretraining_set(n=1536):
    image, centre = render(n, 0, 1.0, 0.0)
    return TensorDataset(image, centre)


def demonstrations(n, seed):
    image, centre = render(n, seed, 0.6, 0.4)
    joints = torch.randn(n, 4, generator=torch.Generator().manual_seed(seed + 100)) * 0.3
    return TensorDataset(image, joints, centre - 0.5 + 0.3 * joints[:, :2])
