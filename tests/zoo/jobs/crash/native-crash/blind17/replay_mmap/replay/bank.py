from pathlib import Path

import numpy as np

WIDTH = 64


class Bank:
    """Transitions of one collection round in one flat float32 file."""

    def __init__(self, path, rows):
        self.path, self.rows = Path(path), rows

    def fill(self, seed):
        rng = np.random.default_rng(seed)
        data = rng.standard_normal((self.rows, WIDTH), dtype=np.float32)
        data[:, -1] = np.tanh(data[:, :4].sum(1))
        data.tofile(self.path)

    def trim(self, keep):
        kept = np.fromfile(self.path, dtype=np.float32).reshape(-1, WIDTH)[-keep:]
        kept.tofile(self.path)
        self.rows = len(kept)
        return self

    def view(self):
        return np.memmap(self.path, dtype=np.float32, mode="r", shape=(self.rows, WIDTH))
