import glob

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import IterableDataset, get_worker_info


class TokenShards(IterableDataset):
    def __init__(self, pattern, block, seed=1234):
        super().__init__()
        self.paths = sorted(glob.glob(pattern))[dist.get_rank() :: dist.get_world_size()]
        self.block = block
        self.seed = seed
        self.round = 0

    def _mine(self):
        info = get_worker_info()
        if info is None:
            return list(self.paths)
        return self.paths[info.id :: info.num_workers]

    def __iter__(self):
        paths = self._mine()
        if not paths:
            raise ValueError("more readers than shards")
        while True:
            order = np.random.default_rng([self.seed, self.round]).permutation(len(paths))
            for k in order:
                tokens = np.memmap(paths[k], dtype=np.uint16, mode="r")
                usable = (len(tokens) - 1) // self.block * self.block
                for at in range(0, usable, self.block):
                    chunk = torch.from_numpy(tokens[at : at + self.block + 1].astype(np.int64))
                    yield chunk[:-1], chunk[1:]
            self.round += 1
