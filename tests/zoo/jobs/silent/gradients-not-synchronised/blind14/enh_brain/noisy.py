import math

import torch
from torch.utils.data import Dataset


class NoisySpeech(Dataset):
    def __init__(self, n, samples=2048):
        self.n, self.t = n, torch.arange(samples) / 8000.0

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        f = 100 + 300 * torch.rand(3, 1, generator=g)
        clean = torch.sin(2 * math.pi * f * self.t).mean(0)
        return clean + 0.3 * torch.randn(self.t.shape, generator=g), clean
