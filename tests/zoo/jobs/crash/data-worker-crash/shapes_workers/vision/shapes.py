import torch
from torch.utils.data import Dataset

from vision.cache import TileCache


class Shapes(Dataset):
    """Bars, columns, crosses and dots on a noisy 16x16 canvas."""

    classes = ["bar", "column", "cross", "dot"]

    def __init__(self, count=128, size=16, seed=0):
        self.cache = TileCache(60)
        self.count, self.size, self.seed = count, size, seed

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 100003 + i)
        image = 0.1 * torch.randn(1, self.size, self.size, generator=g)
        label = i % len(self.classes)
        at = int(torch.randint(2, self.size - 2, (1,), generator=g))
        if label in (0, 2):
            image[0, at, :] += 1
        if label in (1, 2):
            image[0, :, at] += 1
        if label == 3:
            image[0, at, at] += 3
        image = self.cache.read(i, image)
        return image, label
