import random

import torch
from torch.utils.data import IterableDataset


class ShardStream(IterableDataset):
    """Reads shards of records; every rank takes its own part of the shard list."""

    def __init__(self, shards, rank, world, seed=None):
        self.shards = shards
        self.rank, self.world = rank, world
        self.random = random.Random(seed)

    def __iter__(self):
        order = list(range(len(self.shards)))
        self.random.shuffle(order)
        for number in order[self.rank::self.world]:
            x, y = self.shards[number]
            rows = list(range(len(x)))
            self.random.shuffle(rows)
            for row in rows:
                yield x[row], y[row]


def make_shards(count=33, size=64, features=12):
    generator = torch.Generator().manual_seed(1)
    weight = torch.randn(features, 1, generator=generator)
    shards = []
    for _ in range(count):
        x = torch.randn(size, features, generator=generator)
        shards.append((x, x @ weight + 0.1 * torch.randn(size, 1, generator=generator)))
    return shards
