import glob

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info


class ShardStream(IterableDataset):
    def __init__(self, pattern, rank, world, seed=0):
        self.files = sorted(glob.glob(pattern))
        self.rank, self.world, self.seed = rank, world, seed

    def mine(self):
        files = self.files[self.rank::self.world]
        info = get_worker_info()
        if info is not None:
            files = files[info.id::info.num_workers]
        return files

    def __iter__(self):
        for name in self.mine():
            with np.load(name) as shard:
                for x, y in zip(shard["x"], shard["y"]):
                    yield torch.from_numpy(x), torch.tensor(y)
