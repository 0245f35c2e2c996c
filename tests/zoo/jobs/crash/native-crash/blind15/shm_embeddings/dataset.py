import numpy as np
import torch
from torch.utils.data import Dataset


def build_table(rows=60000, dim=64, seed=3):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, dim), dtype=np.float32)


class NeighbourPairs(Dataset):
    def __init__(self, table, n=6400, seed=0):
        self.table = table
        rng = np.random.default_rng(seed)
        self.left = rng.integers(0, len(table), n)
        self.right = np.where(rng.random(n) < 0.5, self.left, rng.integers(0, len(table), n))

    def __len__(self):
        return len(self.left)

    def __getitem__(self, i):
        a, b = self.table[self.left[i]], self.table[self.right[i]]
        return torch.tensor(a), torch.tensor(b + 0.1), float(self.left[i] == self.right[i])
