import numpy as np
import torch
from torch.utils.data import Dataset


class WellCrops(Dataset):
    """Single-cell crops of a plate; the mechanism of action is the label, DMSO is by far the most common."""

    def __init__(self, n, num_classes, rare_fraction, seed):
        rng = np.random.default_rng(seed)
        p = np.full(num_classes, rare_fraction)
        p[0] = 1 - rare_fraction * (num_classes - 1)
        self.labels = rng.choice(num_classes, n, p=p)
        yy, xx = np.mgrid[0:12, 0:12]
        imgs = rng.normal(0, 0.6, (n, 2, 12, 12)).astype(np.float32)
        for i, c in enumerate(self.labels):
            cy, cx = rng.uniform(4, 8, 2)
            r = 2 + 0.7 * c
            ring = np.exp(-((np.hypot(yy - cy, xx - cx) - r) ** 2))
            imgs[i, 0] += ring
            imgs[i, 1] += np.roll(ring, c, axis=1)
        self.images = torch.from_numpy(imgs)
        self.targets = torch.from_numpy(self.labels)

    def class_weights(self):
        counts = torch.bincount(self.targets).float()
        return (1.0 / counts)[self.targets].double()

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        return self.images[i], self.targets[i]
