import os

import numpy as np

DIM = 512


def build(path, rows, seed=0):
    rng = np.random.default_rng(seed)
    arr = rng.standard_normal((rows, DIM)).astype(np.float32)
    arr.tofile(path)


def attach(path):
    rows = os.path.getsize(path) // (DIM * 4)
    return np.memmap(path, dtype=np.float32, mode="r", shape=(rows, DIM))


def drop_outliers(path, limit):
    """Throws away tiles whose norm is too large and writes the table anew."""
    arr = np.array(attach(path))
    keep = arr[np.linalg.norm(arr, axis=1) < limit]
    keep.tofile(path)
    return len(keep)
