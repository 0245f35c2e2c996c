import random
from pathlib import Path

import torch
from torch.utils.data import IterableDataset, get_worker_info


class ClickShards(IterableDataset):
    def __init__(self, root, rank, world, seed=0):
        self.files = sorted(Path(root).glob("part-*.pt"))
        self.rank, self.world, self.seed = rank, world, seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        info = get_worker_info()
        wid, n = (info.id, info.num_workers) if info else (0, 1)
        order = list(self.files)
        random.Random(self.seed + self.epoch).shuffle(order)
        for path in order[self.rank * n + wid :: self.world * n]:
            part = torch.load(path, map_location="cpu", weights_only=True)
            for row in zip(part["dense"], part["cat"], part["label"]):
                yield row
