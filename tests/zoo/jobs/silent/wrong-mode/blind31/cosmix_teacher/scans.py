import numpy as np
import torch
from torch.utils.data import TensorDataset


def make_scans(n, seed, gain=1.0, bias=0.0, size=16):
    """Background, discs (1) and stripes (2), with the intensities of one sensor."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size]
    x = rng.normal(0, 0.25, (n, 1, size, size)).astype(np.float32)
    y = np.zeros((n, size, size), dtype=np.int64)
    for i in range(n):
        cy, cx, r = rng.uniform(4, 12), rng.uniform(4, 12), rng.uniform(2, 4)
        y[i][np.hypot(yy - cy, xx - cx) < r] = 1
        k = rng.integers(0, size - 2)
        y[i][:, k:k + 2] = 2
        x[i, 0] += np.choose(y[i], [0.0, 0.8, 1.6])
    return TensorDataset(torch.from_numpy(gain * x + bias), torch.from_numpy(y))
