import torch
from torch.utils.data import Dataset

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Rows(Dataset):
    def __init__(self, n):
        self.n = n
        self.cache = {}

    def __len__(self):
        return self.n

    def _load(self, i):
        if i not in self.cache:
            self.cache[i] = torch.ones(4)
        return self.cache[i]

    def __getitem__(self, i):
        return self._load(i)
