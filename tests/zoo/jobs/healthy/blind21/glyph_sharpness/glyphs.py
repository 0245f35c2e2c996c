import numpy as np
import torch
from torch.utils.data import Dataset


class Glyphs(Dataset):
    """Strokes of ten glyphs, moved and blurred by noise; a part of the labels is wrong."""

    def __init__(self, count, seed, label_noise=0.0, size=16):
        shapes = (np.random.default_rng(9).random((10, 8, 8)) > 0.6).astype(np.float32)
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, 10, size=count)
        x = np.zeros((count, 1, size, size), dtype=np.float32)
        for i, label in enumerate(self.y):
            dy, dx = rng.integers(0, size - 8, size=2)
            x[i, 0, dy:dy + 8, dx:dx + 8] = shapes[label]
        self.x = x + 0.25 * rng.standard_normal(x.shape).astype(np.float32)
        wrong = rng.random(count) < label_noise
        self.y[wrong] = rng.integers(0, 10, size=wrong.sum())

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), int(self.y[i])
