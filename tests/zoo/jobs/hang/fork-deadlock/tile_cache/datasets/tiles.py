import torch
from torch.utils.data import Dataset

from datasets.cache import cache


def decode(index):
    gen = torch.Generator().manual_seed(index)
    return torch.randn(3, 8, 8, generator=gen)


class Tiles(Dataset):
    def __init__(self, size):
        self.size = size

    def warm_up(self, count):
        for index in range(count):
            cache.remember(index, decode)

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        tile = cache.remember(index, decode)
        return tile, (tile.mean() > 0).long()
