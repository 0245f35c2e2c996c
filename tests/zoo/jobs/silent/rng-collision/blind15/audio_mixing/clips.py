import numpy as np
import torch
from torch.utils.data import Dataset


class Keywords(Dataset):
    def __init__(self, n, chain=None, seed=0, length=400, words=6):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, words, n)
        t = np.arange(length) / length
        tones = np.stack([np.sin(2 * np.pi * (6 + 5 * w) * t * (1 + 0.3 * w * t)) for w in range(words)])
        self.waves = (tones[self.labels] + 0.3 * rng.standard_normal((n, length))).astype(np.float32)
        self.chain = chain

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        wave = self.waves[i] if self.chain is None else self.chain(self.waves[i])
        return torch.from_numpy(np.ascontiguousarray(wave))[None], int(self.labels[i])


def backgrounds(count=4, length=6000, seed=99):
    return np.random.default_rng(seed).standard_normal((count, length)).cumsum(1).astype(np.float32) / 40
