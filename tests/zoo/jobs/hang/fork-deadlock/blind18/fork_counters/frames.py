import torch
from torch.utils.data import Dataset

from counters import COUNTERS


class Clips(Dataset):
    def __init__(self, n, length, dim):
        self.n, self.length, self.dim = n, length, dim

    def __len__(self):
        return self.n

    def decode(self, i):
        g = torch.Generator().manual_seed(i)
        clip = torch.randn(self.length, self.dim, generator=g)
        if clip.abs().max() > 4.2:
            COUNTERS.bump("clipped")
            clip = clip.clamp(-4.2, 4.2)
        COUNTERS.bump("decoded")
        return clip

    def __getitem__(self, i):
        return self.decode(i), i % 5
