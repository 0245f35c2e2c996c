import time

import torch
from torch.utils.data import Dataset


class Cached(Dataset):
    """The first read of a record goes to the archive, later ones to memory."""

    def __init__(self, count):
        self.count, self.memory = count, {}

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index not in self.memory:
            time.sleep(0.004)
            g = torch.Generator().manual_seed(index)
            x = torch.randn(32, generator=g)
            self.memory[index] = (x, (x[:16] - x[16:]).abs().sum().reshape(1) / 16)
        return self.memory[index]
