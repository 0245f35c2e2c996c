import glob
import os
import random

import torch
import torch.distributed as dist
from torch.utils.data import IterableDataset, get_worker_info

from .shards import read_shard


def split(urls, index, count):
    return urls[index::count]


class Resampled(IterableDataset):
    """An endless stream over this worker's part of the shards, in a new order each time."""

    def __init__(self, root, rank, world, seed=0):
        self.urls = sorted(glob.glob(os.path.join(root, "part-*.tar")))
        self.rank, self.world, self.seed = rank, world, seed

    def __iter__(self):
        info = get_worker_info()
        mine = split(split(self.urls, self.rank, self.world), info.id, info.num_workers)
        order = random.Random(self.seed + 31 * self.rank + info.id)
        while True:
            order.shuffle(mine)
            for url in mine:
                for image, label in read_shard(url):
                    yield torch.from_numpy(image.copy()).float() / 255, int(label)
