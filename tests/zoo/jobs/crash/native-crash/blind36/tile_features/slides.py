"""Slides are made of tiles; tissue detection leaves a different number in each."""
import torch
from torch.utils.data import Dataset


class TileDataset(Dataset):
    def __init__(self, slide, n_tiles, size=8):
        self.slide, self.n_tiles, self.size = slide, n_tiles, size

    def __len__(self):
        return self.n_tiles

    def has_tissue(self, i):
        return i >= self.n_tiles // 4 or i % 8 == 0

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(hash_name(self.slide) * 100003 + i)
        return i, torch.randn(3, self.size, self.size, generator=g)


def hash_name(name):
    return sum(ord(c) * (k + 1) for k, c in enumerate(name)) % 9973


def cohort(n_slides, base_tiles):
    return [(f"case{i:03d}", base_tiles + 256 * (i % 3)) for i in range(n_slides)]
