import torch
from torch.utils.data import Dataset

BASINS = {"upper": 620, "middle": 480, "lower": 760}


class Basin(Dataset):
    def __init__(self, name):
        gen = torch.Generator().manual_seed(len(name) * 31)
        self.x = torch.randn(BASINS[name], 24, generator=gen)
        self.y = self.x[:, -4:].mean(1) + 0.1 * torch.randn(len(self.x), generator=gen)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def basin_for(rank):
    return list(BASINS)[rank % len(BASINS)]
