import time

import torch
from torch.utils.data import Dataset


class Archive(Dataset):
    """Rows of a big archive; the index is read when the first row is asked for, in the worker."""

    def __init__(self, rows):
        self.rows = rows
        self.index = None

    def __len__(self):
        return self.rows

    def _read_index(self):
        offsets = []
        for block in range(40):
            time.sleep(0.5)  # cold storage
            offsets.extend(range(block * 100, block * 100 + 100))
        return offsets

    def __getitem__(self, i):
        if self.index is None:
            self.index = self._read_index()
        generator = torch.Generator().manual_seed(self.index[i])
        row = torch.randn(12, generator=generator)
        return row, row[:3].sum()
