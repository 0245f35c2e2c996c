import numpy as np
import torch
from torch.utils.data import Dataset, WeightedRandomSampler


class LeafImages(Dataset):
    """Small leaf images; most are healthy, two diseases are rare."""

    def __init__(self, n, seed, source=False):
        rng = np.random.default_rng(seed)
        self.labels = rng.choice(3, size=n, p=(0.78, 0.14, 0.08))
        axis = np.linspace(-1, 1, 16)
        yy, xx = np.meshgrid(axis, axis, indexing="ij")
        images = rng.normal(0, 0.35, (n, 16, 16))
        for i, y in enumerate(self.labels):
            cy, cx = rng.uniform(-0.5, 0.5, 2)
            r2 = (yy - cy) ** 2 + (xx - cx) ** 2
            if y == 1:
                images[i] += np.exp(-r2 / 0.05)
            elif y == 2:
                images[i] += np.exp(-((np.sqrt(r2) - 0.5) ** 2) / 0.01)
        self.images = torch.tensor(images if source else 0.7 * images + 0.2, dtype=torch.float32)[:, None]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], int(self.labels[i])


def balanced_sampler(dataset):
    counts = np.bincount(dataset.labels)
    per_class = len(dataset) / counts
    weights = per_class[dataset.labels]
    return WeightedRandomSampler(torch.as_tensor(weights), num_samples=len(dataset), replacement=True)
