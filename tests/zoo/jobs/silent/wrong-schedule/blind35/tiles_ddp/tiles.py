import numpy as np
import torch
from torch.utils.data import TensorDataset

CLASSES = 6


def make_tiles(count, size=16, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size]
    images = np.empty((count, 3, size, size), np.float32)
    labels = rng.integers(0, CLASSES, count)
    for i, k in enumerate(labels):
        angle = np.pi * k / CLASSES
        wave = np.sin((xx * np.cos(angle) + yy * np.sin(angle)) * 0.9 + rng.uniform(0, 6.3))
        images[i] = wave[None] * rng.uniform(0.4, 1.0, (3, 1, 1)) + rng.normal(0, 0.9, (3, size, size))
    return TensorDataset(torch.from_numpy(images), torch.from_numpy(labels))
