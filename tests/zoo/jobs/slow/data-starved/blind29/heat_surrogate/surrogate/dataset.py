from pathlib import Path

import numpy as np
import torch
from torch.utils.data import Dataset


class TrajectoryPairs(Dataset):
    """Pairs (u_t, u_t+1) of all trajectories in the shards of a folder."""

    def __init__(self, folder, normalizer=None):
        self.files = sorted(Path(folder).glob("shard_*.npz"))
        self.index = []
        for f, path in enumerate(self.files):
            n, steps = np.load(path)["u"].shape[:2]
            self.index += [(f, i, t) for i in range(n) for t in range(steps - 1)]
        self.normalizer = normalizer

    def __len__(self):
        return len(self.index)

    def __getitem__(self, idx):
        f, i, t = self.index[idx]
        shard = np.load(self.files[f])
        x = torch.from_numpy(shard["u"][i, t]).unsqueeze(0)
        y = torch.from_numpy(shard["u"][i, t + 1]).unsqueeze(0)
        dt = torch.tensor(shard["t"][t + 1] - shard["t"][t])
        if self.normalizer is not None:
            x, y = self.normalizer(x), self.normalizer(y)
        return x, y, dt


class Standardize:
    def __init__(self, path):
        u = np.load(path)["u"]
        self.mean, self.std = float(u.mean()), float(u.std())

    def __call__(self, x):
        return (x - self.mean) / self.std
