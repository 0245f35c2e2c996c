import glob
import gzip
import json

import torch
from torch.utils.data import IterableDataset, get_worker_info


class ClickShards(IterableDataset):
    def __init__(self, pattern, rank, world, width=64):
        self.files = sorted(glob.glob(pattern))[rank::world]
        self.width = width

    def encode(self, row):
        x = torch.zeros(self.width)
        for k, v in row["features"].items():
            x[int(k) % self.width] += float(v)
        return x, torch.tensor(float(row["clicked"]))

    def __iter__(self):
        info = get_worker_info()
        mine = self.files if info is None else self.files[info.id::info.num_workers]
        for path in mine:
            with gzip.open(path, "rt") as f:
                for line in f:
                    yield self.encode(json.loads(line))
