import json
import os

import numpy as np


class FeatureStore:
    """Features on disk, written in pieces so that a cohort never has to fit into memory."""

    def __init__(self, root, encoder, rows, dim):
        os.makedirs(root, exist_ok=True)
        self.path = os.path.join(root, f"{encoder}_features.dat")
        self.rows, self.dim = rows, dim
        self.array = None
        self.done = 0

    def append(self, block):
        if self.array is None:
            self.array = np.memmap(self.path, dtype=np.float32, mode="w+", shape=(self.rows, self.dim))
        end = self.done + len(block)
        self.array[self.done:end] = block
        self.done = end

    def close(self, index, index_path):
        self.array.flush()
        with open(index_path, "w") as f:
            json.dump({"path": self.path, "rows": self.rows, "dim": self.dim, "slides": index}, f)
