import torch
from torch.utils.data import Dataset


class LandTiles(Dataset):
    CLASSES = 4

    def __init__(self, count, size, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(self.CLASSES, (count,), generator=g)
        self.waves = torch.rand(count, 2, generator=g) * 3
        self.size, self.seed = size, seed

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        axis = torch.arange(self.size).float()
        label, (a, b) = self.labels[index], self.waves[index]
        grid = torch.sin(axis[:, None] * (0.3 + 0.3 * label) + a) * torch.cos(axis[None] * (1.2 - 0.2 * label) + b)
        g = torch.Generator().manual_seed(self.seed * 13 + index)
        return grid[None] + 0.5 * torch.randn(1, self.size, self.size, generator=g), label
