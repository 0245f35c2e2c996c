import torch
from torch.utils.data import Dataset


class Pool(Dataset):
    """Rows with a label, and the ones of each third batch without; -1 means that nobody looked at it yet."""

    def __init__(self, rank, epoch, count=96):
        g = torch.Generator().manual_seed(2 * epoch + rank)
        self.x = torch.randn(count, 16, generator=g)
        self.y = torch.randint(0, 4, (count,), generator=g)
        self.y[torch.arange(count) // 8 % 3 == 2] = -1
        if epoch == 1 and rank == 1:
            self.y[50] = -1  # withdrawn after a complaint

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]
