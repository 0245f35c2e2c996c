"""Feature arrays on disk, written in place while the tiles are embedded."""
import os
from pathlib import Path

import numpy as np
import torch.distributed as dist


class FeatureStore:
    """One array for each slide; room is made for all tiles, those without tissue are left out."""

    def __init__(self, folder, slide, capacity, dim, rank):
        self.path = Path(folder) / f"{slide}.npy"
        self.rank, self.row_bytes = rank, dim * 4
        if rank == 0:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            np.lib.format.open_memmap(self.path, mode="w+", dtype=np.float32, shape=(capacity, dim))
        dist.barrier()
        self.array = np.lib.format.open_memmap(self.path, mode="r+")
        self.end = 0
        self.written = 0

    def put(self, positions, features):
        self.array[positions] = features
        self.end = max(self.end, int(positions.max()) + 1)
        self.written += len(positions)

    def close(self):
        self.array.flush()
        if self.rank == 0:
            os.truncate(self.path, self.array.offset + self.end * self.row_bytes)
        return self.written


def summary(path, dim):
    values = np.fromfile(path, dtype=np.float32)[32:]
    rows = len(values) // dim
    return {"tiles": rows, "mean": float(values[: rows * dim].mean())}
