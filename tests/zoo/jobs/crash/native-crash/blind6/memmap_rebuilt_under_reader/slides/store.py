import os
import shutil

import numpy as np
import torch


class FeatureStore:
    """Features of all tiles in one file, which every rank maps."""

    def __init__(self, folder, dimension):
        self.folder, self.dimension = folder, dimension
        self.path = os.path.join(folder, "tiles.f32")
        self.rows = None

    def extract(self, tiles):
        features = np.random.default_rng(0).standard_normal((tiles, self.dimension), dtype=np.float32)
        self.write(features)

    def write(self, features):
        target = np.memmap(self.path, dtype=np.float32, mode="w+", shape=features.shape)
        target[:] = features
        target.flush()

    def open(self):
        self.rows = np.memmap(self.path, dtype=np.float32, mode="r").reshape(-1, self.dimension)

    def __len__(self):
        return len(self.rows)

    def batch(self, first, size):
        return torch.from_numpy(np.array(self.rows[first:first + size]))

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
