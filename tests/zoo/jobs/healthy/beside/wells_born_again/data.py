import torch
from torch.utils.data import Dataset


class Wells(Dataset):
    """Log curves of wells -> lithology class."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        proto = torch.randn(6, 3, 32, generator=torch.Generator().manual_seed(99))
        self.y = torch.randint(6, (n,), generator=g)
        self.x = proto[self.y] + 1.6 * torch.randn(n, 3, 32, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]
