import h5py
import numpy as np
import torch
from torch.utils.data import Dataset


def write(path, traces, samples, seed=0):
    rng = np.random.default_rng(seed)
    with h5py.File(path, "w") as f:
        f["amp"] = rng.standard_normal((traces, samples)).astype("f4").cumsum(1) / 8
        f["pick"] = rng.integers(8, samples - 8, traces)


class Traces(Dataset):
    def __init__(self, path, part, rank, world):
        self.path = path
        self.part = part
        self._file = None
        with h5py.File(path, "r") as f:
            n = len(f["amp"])
        cut = int(n * 0.8)
        span = range(0, cut) if part == "train" else range(cut, n)
        self.index = list(span)[rank::world]

    @property
    def file(self):
        if self._file is None:
            self._file = h5py.File(self.path, "r")
        return self._file

    def scale(self):
        return float(np.abs(self.file["amp"][self.index[:64]]).mean())

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        k = self.index[i]
        return torch.from_numpy(self.file["amp"][k]), torch.tensor(self.file["pick"][k] / 96, dtype=torch.float32)
