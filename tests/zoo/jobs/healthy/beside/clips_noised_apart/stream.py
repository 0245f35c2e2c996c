import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info


class NoisyClips(IterableDataset):
    """Clips of audio; noise and gain are drawn anew for each."""

    def __init__(self, n, rank, world, seed=0):
        self.n, self.rank, self.world = n, rank, world
        base = np.random.default_rng(1)
        self.labels = base.integers(0, 6, n)
        self.proto = base.standard_normal((6, 256)).astype("float32")
        self.rng = np.random.default_rng(seed + rank)

    def augment(self, clip):
        gain = self.rng.uniform(0.7, 1.3)
        shift = self.rng.integers(-8, 9)
        noise = self.rng.standard_normal(256).astype("float32")
        return np.roll(clip, shift) * np.float32(gain) + 0.8 * noise

    def __iter__(self):
        info = get_worker_info()
        self.rng = np.random.default_rng([torch.initial_seed(), self.rank])
        part, parts = (info.id, info.num_workers) if info else (0, 1)
        for i in range(self.rank * parts + part, self.n, self.world * parts):
            y = self.labels[i]
            yield torch.from_numpy(self.augment(self.proto[y])), int(y)
