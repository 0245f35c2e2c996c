import torch
from torch.utils.data import Dataset


class PreferenceLatents(Dataset):

    def __init__(self, n=192, dim=16):
        g = torch.Generator().manual_seed(6)
        self.win = torch.randn(n, dim, generator=g) + 0.5
        self.lose = torch.randn(n, dim, generator=g) - 0.5

    def __len__(self):
        return len(self.win)

    def __getitem__(self, i):
        return self.win[i], self.lose[i]
