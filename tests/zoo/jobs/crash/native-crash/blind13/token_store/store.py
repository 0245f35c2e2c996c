import os

import numpy as np


def write(path, tokens):
    out = np.memmap(path, dtype=np.int64, mode="w+", shape=tokens.shape)
    out[:] = tokens
    out.flush()


class Store:
    def __init__(self, path, length):
        self.path, self.length = path, length
        self.open()

    def open(self):
        rows = os.path.getsize(self.path) // (8 * self.length)
        self.map = np.memmap(self.path, dtype=np.int64, mode="r", shape=(rows, self.length))

    def __len__(self):
        return self.map.shape[0]

    def row(self, i):
        return np.array(self.map[i])
