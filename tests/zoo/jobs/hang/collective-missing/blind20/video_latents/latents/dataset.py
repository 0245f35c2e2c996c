import numpy as np
import torch
from torch.utils.data import Dataset


class LatentWindows(Dataset):
    def __init__(self, catalog, table, window):
        self.catalog, self.table, self.window = catalog, table, window

    def __len__(self):
        return len(self.table)

    def __getitem__(self, index):
        row = self.table[index]
        rng = np.random.default_rng((self.catalog.seed, row["clip"], row["start"]))
        walk = rng.standard_normal((self.window + 1, self.catalog.dim), dtype=np.float32).cumsum(0) * 0.1
        return torch.from_numpy(walk[:-1]), torch.from_numpy(walk[1:])


def verify_share(catalog, rank, world):
    """Each rank checks its share of the files, so that damaged clips are found before training."""
    bad = []
    for index in range(rank, len(catalog.entries), world):
        if not catalog.checksum(index):
            bad.append(catalog.entries[index][0])
    if bad:
        raise IOError(f"{len(bad)} damaged clips, first {bad[0]}")
