import random

import torch
from torch.utils.data import IterableDataset


class WebShards(IterableDataset):
    """Each rank reads whole shards, and shards are not of equal length."""

    def __init__(self, rank, world_size, shards=7, seed=0):
        self.mine = list(range(rank, shards, world_size))
        self.seed = seed

    def _length(self, shard):
        return random.Random(shard).randrange(40, 140)

    def __iter__(self):
        for shard in self.mine:
            g = torch.Generator().manual_seed(self.seed + shard)
            for _ in range(self._length(shard)):
                x = torch.randn(10, generator=g)
                yield x, (x[:2].sum() > 0).long()
