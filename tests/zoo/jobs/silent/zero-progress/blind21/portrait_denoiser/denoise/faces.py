import numpy as np
import torch
from torch.utils.data import IterableDataset


class Faces(IterableDataset):
    """Endless drawn faces; each rank draws from a stream of its own."""

    def __init__(self, size=20, seed=0, rank=0, world=1):
        self.size, self.seed, self.rank, self.world = size, seed, rank, world
        self.yy, self.xx = np.mgrid[:size, :size].astype(np.float32) / size

    def disc(self, cx, cy, r):
        return 1 / (1 + np.exp((np.hypot(self.xx - cx, self.yy - cy) - r) * 40))

    def __iter__(self):
        rng = np.random.default_rng([self.seed, self.rank])
        while True:
            cx, cy = rng.uniform(0.42, 0.58, size=2)
            image = 0.8 * self.disc(cx, cy, rng.uniform(0.28, 0.38))
            gap = rng.uniform(0.09, 0.15)
            image -= 0.9 * self.disc(cx - gap, cy - 0.08, 0.05) + 0.9 * self.disc(cx + gap, cy - 0.08, 0.05)
            image -= 0.6 * self.disc(cx, cy + 0.15, rng.uniform(0.05, 0.1))
            yield torch.from_numpy((2 * image - 0.5).astype(np.float32))[None]


def fixed_set(count, seed):
    stream = iter(Faces(seed=seed, rank=10 ** 6))
    return torch.stack([next(stream) for _ in range(count)])
