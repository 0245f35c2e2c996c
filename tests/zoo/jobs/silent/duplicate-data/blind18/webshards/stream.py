import random

import torch
from torch.utils.data import IterableDataset, get_worker_info


class ShardStream(IterableDataset):
    def __init__(self, shards, per_shard, topology, seed=0):
        self.shards, self.per_shard, self.topology, self.seed = shards, per_shard, topology, seed
        self.epoch = 0

    def order(self):
        names = list(range(self.shards))
        random.Random(self.seed + self.epoch).shuffle(names)
        return [n for i, n in enumerate(names) if self.topology.owns(i)]

    def __iter__(self):
        info = get_worker_info()
        mine = self.order()
        if info is not None:
            mine = mine[info.id::info.num_workers]
        for shard in mine:
            g = torch.Generator().manual_seed(5000 + shard)
            img = torch.randn(self.per_shard, 3, 8, 8, generator=g)
            txt = img.flatten(1)[:, :24] + 0.3 * torch.randn(self.per_shard, 24, generator=g)
            yield from zip(img, txt)
