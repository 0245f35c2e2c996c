import os
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset


class TableDataset(Dataset):

    def __init__(self, path):
        table = np.load(path)
        self.x = torch.from_numpy(table["x"])
        self.y = torch.from_numpy(table["y"])

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class TableSource:
    """Writes the raw table once and hands out datasets that read it."""

    def __init__(self, fabric, name, rows=600, columns=12):
        self.fabric, self.name = fabric, name
        self.rows, self.columns = rows, columns
        self.root = os.path.join(tempfile.gettempdir(), f"tabular-{os.environ['TORCHELASTIC_RUN_ID'][:8]}-{os.getppid()}")

    @property
    def path(self):
        return os.path.join(self.root, f"{self.name}.npz")

    def _write(self, seed):
        os.makedirs(self.root, exist_ok=True)
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(self.rows, self.columns)).astype("float32")
        w = rng.normal(size=(self.columns, 1)).astype("float32")
        np.savez(self.path + ".part.npz", x=x, y=np.tanh(x @ w))
        os.replace(self.path + ".part.npz", self.path)

    def make_dataset(self, seed):
        if self.fabric.global_rank == 0:
            if not os.path.exists(self.path):
                self._write(seed)
            return TableDataset(self.path)
        self.fabric.barrier("dataset")
        return TableDataset(self.path)

    def clean(self):
        self.fabric.barrier("clean")
        if self.fabric.global_rank == 0 and os.path.exists(self.path):
            os.remove(self.path)
            os.rmdir(self.root)
