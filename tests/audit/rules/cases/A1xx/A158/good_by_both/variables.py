import os

import torch
from torch.utils.data import IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self, shards):
        self.shards = shards

    def __iter__(self):
        info = get_worker_info()
        shards = self.shards[int(os.environ["RANK"]) :: int(os.environ["WORLD_SIZE"])]
        for shard in shards[info.id :: info.num_workers]:
            yield from torch.load(shard)
