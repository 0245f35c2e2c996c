import torch
from torch.utils.data import Dataset

from profile import day


class Meters(Dataset):
    """Windows of 48 hours and the 24 hours after, for meters of three kinds."""

    def __init__(self, meters=120, days=12, seed=0):
        g = torch.Generator().manual_seed(seed)
        kinds = ["h0", "g1", "g3"]
        rows = []
        for m in range(meters):
            base = torch.tensor(day(kinds[m % 3])).repeat(days)
            level = 0.5 + torch.rand(1, generator=g)
            rows.append(level * base + 0.05 * torch.randn(24 * days, generator=g))
        self.rows, self.per = torch.stack(rows), days - 2

    def __len__(self):
        return len(self.rows) * self.per

    def __getitem__(self, i):
        row, start = self.rows[i // self.per], 24 * (i % self.per)
        return row[start:start + 48], row[start + 48:start + 72]
