import math

import torch
from torch.utils.data import Dataset


class ToneWords(Dataset):
    """Short synthetic keywords: chirps whose slope is the class."""

    def __init__(self, size, n_classes=8, samples=4000):
        self.size, self.n_classes = size, n_classes
        self.t = torch.arange(samples) / 8000.0

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        label = i % self.n_classes
        base = 200 + 40 * torch.rand((), generator=g)
        wave = torch.sin(2 * math.pi * (base * self.t + 150 * label * self.t ** 2))
        return wave + 0.1 * torch.randn(self.t.shape, generator=g), label


SPEEDS = (0.9, 1.0, 1.1)


def at_speed(wave, speed):
    size = int(wave.numel() / speed)
    return torch.nn.functional.interpolate(wave.view(1, 1, -1), size=size, mode="linear").view(1, -1)


def estimate_cmvn(dataset, frontend, n_items):
    total, square, count = 0.0, 0.0, 0
    for i in range(n_items):
        wave = dataset[i][0]
        for speed in SPEEDS:
            feats = frontend(at_speed(wave, speed))[0]
            total = total + feats.sum(-1)
            square = square + feats.pow(2).sum(-1)
            count += feats.shape[-1]
    mean = total / count
    return mean, (square / count - mean ** 2).clamp_min(1e-4).sqrt()
