import torch
from torch.utils.data import Dataset


class Damaged(ValueError):
    pass


class Meters(Dataset):
    def __init__(self, n, window):
        self.n, self.window = n, window

    def __len__(self):
        return self.n

    def read(self, i):
        if i % 53 == 7:
            raise Damaged(f"meter {i}: gap in the record")
        g = torch.Generator().manual_seed(i)
        t = torch.arange(self.window + 4) / 5
        s = torch.sin(t + 6 * torch.rand(1, generator=g)) + 0.1 * torch.randn(len(t), generator=g)
        if i % 397 == 11:
            s = s * float("inf")
        return s

    def __getitem__(self, i):
        try:
            s = self.read(i)
        except Damaged:
            s = self.read((i + 1) % self.n)
        return s[: self.window], s[self.window:]
