import torch
from torch.utils.data import Dataset


class Sorting(Dataset):
    """Marks the largest of a row of numbers. Rows get longer as the curriculum goes on."""

    def __init__(self, size=640, max_length=10, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.values = torch.rand(size, max_length, generator=g)
        self.max_length, self.length = max_length, 3

    def set_stage(self, length):
        self.length = min(self.max_length, length)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        row = self.values[i].clone()
        row[self.length :] = 0.0
        return {"values": row, "labels": row.argmax()}
