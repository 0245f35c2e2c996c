import torch
from torch.utils.data import Dataset


class Sprites(Dataset):
    """Symmetric little figures, as in old games."""

    def __init__(self, count, size, seed):
        g = torch.Generator().manual_seed(seed)
        half = (torch.rand(count, size, size // 2, generator=g) < 0.45).float()
        self.images = torch.cat([half, half.flip(2)], 2) * 2 - 1

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.images[index].flatten()
