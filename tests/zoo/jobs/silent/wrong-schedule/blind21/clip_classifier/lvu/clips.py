import numpy as np
import torch
from torch.utils.data import Dataset


class ClipDataset(Dataset):
    """Frame features of clips: a class is an order of events, so frames have to be seen together."""

    def __init__(self, clips, frames, size, classes, noise, seed):
        table = np.random.default_rng(1000)
        events = table.standard_normal((8, size)).astype(np.float32)
        orders = table.integers(0, 8, size=(classes, frames))
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, classes, size=clips)
        x = events[orders[self.labels]]
        shift = rng.integers(0, 3, size=clips)
        x = np.stack([np.roll(c, s, axis=0) for c, s in zip(x, shift)])
        self.x = (x + noise * rng.standard_normal(x.shape)).astype(np.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), int(self.labels[i])
