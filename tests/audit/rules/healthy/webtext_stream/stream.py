import glob
import random

import torch
import torch.distributed as dist
from torch.utils.data import IterableDataset, get_worker_info


class EndlessShards(IterableDataset):
    def __init__(self, pattern, length, seed):
        self.files = sorted(glob.glob(pattern))
        self.length, self.seed = length, seed
        self.rank, self.world = dist.get_rank(), dist.get_world_size()

    def slot(self):
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        return self.rank * workers + worker, self.world * workers

    def __iter__(self):
        me, n = self.slot()
        if len(self.files) < n:
            raise ValueError(f"{len(self.files)} shards for {n} readers")
        rng = random.Random(self.seed + me)
        mine = self.files[me::n]
        while True:
            rng.shuffle(mine)
            for path in mine:
                tokens = torch.load(path, map_location="cpu")
                for i in range(0, len(tokens) - self.length, self.length):
                    yield tokens[i:i + self.length + 1].long()
