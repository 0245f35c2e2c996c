import time

import torch
from torch.utils.data import Dataset


class ArchivedRows(Dataset):
    """Rows on a tape robot: the first access to a tape takes its time."""

    def __init__(self, rank, epoch, count=256):
        g = torch.Generator().manual_seed(rank)
        self.x = torch.randn(count, 5, generator=g)
        self.cold = {160} if (rank, epoch) == (1, 1) else set()

    def __len__(self):
        return len(self.x)

    def mount(self, seconds=11):
        time.sleep(seconds)

    def __getitem__(self, i):
        if i in self.cold:
            self.mount()
        return self.x[i], self.x[i].sum(0, keepdim=True)
