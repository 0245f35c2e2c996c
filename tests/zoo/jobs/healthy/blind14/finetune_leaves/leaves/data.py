import torch
from torch.utils.data import Dataset


class Leaves(Dataset):
    def __init__(self, n, classes, seed, augment):
        g = torch.Generator().manual_seed(seed)
        proto = torch.randn(classes, 3, 20, 20, generator=torch.Generator().manual_seed(1))
        self.y = torch.randint(0, classes, (n,), generator=g)
        self.x = proto[self.y] + 5.0 * torch.randn(n, 3, 20, 20, generator=g)
        self.augment = augment

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        if self.augment:
            if torch.rand(()) < 0.5:
                x = x + 0.1 * torch.randn_like(x)
            x = x * (0.9 + 0.2 * torch.rand(()))
        return x, self.y[i]
