import glob
import os

import numpy as np
import torch
from torch.utils.data import IterableDataset


class ShardStream(IterableDataset):
    """Reads .npz shards one after the other; shards are dealt out to the ranks in turn."""

    def __init__(self, folder, rank, world_size, shuffle=True, seed=0):
        self.files = sorted(glob.glob(os.path.join(folder, "part-*.npz")))[rank::world_size]
        self.shuffle = shuffle
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        rng = np.random.default_rng([self.seed, self.epoch])
        files = list(self.files)
        if self.shuffle:
            rng.shuffle(files)
        for path in files:
            with np.load(path) as part:
                x, y = part["x"], part["y"]
            order = rng.permutation(len(y)) if self.shuffle else np.arange(len(y))
            for i in order:
                yield torch.from_numpy(x[i]), int(y[i])
