"""Tile features of slides in one mapped file, which all ranks read."""
import json
import os

import numpy as np

WIDTH = 64


class FeatureStore:
    def __init__(self, folder):
        self.path = os.path.join(folder, "features.npy.raw")
        self.index_path = os.path.join(folder, "index.json")
        self.features = None
        self.count = 0

    def create(self, count, seed):
        rng = np.random.default_rng(seed)
        self._write(rng.standard_normal((count, WIDTH), dtype=np.float32))

    def _write(self, array):
        with open(self.path, "wb") as handle:
            handle.write(np.ascontiguousarray(array).tobytes())
        with open(self.index_path, "w") as handle:
            json.dump({"count": len(array)}, handle)

    def open(self):
        with open(self.index_path) as handle:
            self.count = json.load(handle)["count"]
        self.features = np.memmap(self.path, np.float32, "r", shape=(self.count, WIDTH))
        return self

    def read(self, rows):
        return np.stack([self.features[row] * 1.0 for row in rows])

    def drop_background(self, threshold):
        """Keeps only tiles with tissue in them."""
        kept = [row for row in range(self.count) if float(self.features[row, 0]) > threshold]
        self._write(np.array(self.features[kept]))
        return self.open()
