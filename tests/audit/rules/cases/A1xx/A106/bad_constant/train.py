import os
from pathlib import Path

import numpy as np

CACHE = Path("cache.npy")


def is_main():
    return int(os.environ.get("RANK", "0")) == 0


def preprocess(raw):
    np.save(CACHE, np.load(raw) * 2)


def dataset(raw):
    if is_main():
        preprocess(raw)
    return np.load(CACHE)


class Prepared:
    def __init__(self, path):
        self.path = path
        if is_main():
            self._write()
        self.rows = np.load(self.path)

    def _write(self):
        np.save(self.path, np.zeros(3))
