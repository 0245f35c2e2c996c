import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info


class NoisyClips(IterableDataset):
    """Clips of audio; each worker shuffles its own in a buffer."""

    def __init__(self, n, rank, world, seed=0):
        self.n, self.rank, self.world = n, rank, world
        base = np.random.default_rng(1)
        self.labels = base.integers(0, 6, n)
        self.proto = base.standard_normal((6, 256)).astype("float32")
        self.rng = np.random.default_rng(seed + rank)

    def augment(self, clip):
        noise = torch.randn(256).numpy()
        return clip + 0.8 * noise

    def __iter__(self):
        info = get_worker_info()
        part, parts = (info.id, info.num_workers) if info else (0, 1)
        held = []
        for i in range(self.rank * parts + part, self.n, self.world * parts):
            held.append(i)
            if len(held) == 64:
                yield self.sample(held.pop(self.rng.integers(64)))
        yield from map(self.sample, held)

    def sample(self, i):
        y = self.labels[i]
        return torch.from_numpy(self.augment(self.proto[y])), int(y)
