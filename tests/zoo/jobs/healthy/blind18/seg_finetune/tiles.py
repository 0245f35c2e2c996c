import torch
from torch.utils.data import Dataset


class Tiles(Dataset):
    def __init__(self, start, n):
        self.start, self.n = start, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.start + i)
        x = torch.randn(3, 32, 32, generator=g)
        y = torch.nn.functional.avg_pool2d(x[None], 4)[0].argmax(0)
        return x, y
