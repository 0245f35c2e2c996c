import torch
from torch.utils.data import Dataset


class Cells(Dataset):
    def __init__(self, n, seed, side=20):
        g = torch.Generator().manual_seed(seed)
        self.counts = torch.randint(1, 9, (n,), generator=g)
        self.images = 0.1 * torch.randn(n, 1, side, side, generator=g)
        for i, c in enumerate(self.counts.tolist()):
            at = torch.randint(1, side - 1, (c, 2), generator=g)
            self.images[i, 0, at[:, 0], at[:, 1]] += 2.0

    def __len__(self):
        return len(self.counts)

    def __getitem__(self, i):
        return self.images[i], self.counts[i].float()
