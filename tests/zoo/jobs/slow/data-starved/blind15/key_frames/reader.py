"""Key frames of clips out of a clip store."""
import time

import torch
from torch.utils.data import Dataset


class ClipStore:
    def __init__(self, clips, seed, index_cost):
        time.sleep(index_cost)
        g = torch.Generator().manual_seed(seed)
        self.offsets = torch.randint(0, 1000, (clips,), generator=g)

    def frame(self, clip):
        base = torch.arange(27 * 8, dtype=torch.float32).view(3, 9, 8)
        return torch.sin(base * (1 + self.offsets[clip] % 5) / 10) + 0.2 * torch.randn(3, 9, 8)

    def label(self, clip):
        return int(self.offsets[clip] % 5)


class KeyFrames(Dataset):
    def __init__(self, clips=288, seed=0, index_cost=1.2):
        self.clips, self.seed, self.index_cost = clips, seed, index_cost
        self._store = None

    @property
    def store(self):
        if self._store is None:
            self._store = ClipStore(self.clips, self.seed, self.index_cost)
        return self._store

    def __len__(self):
        return self.clips

    def __getitem__(self, i):
        return self.store.frame(i), self.store.label(i)
