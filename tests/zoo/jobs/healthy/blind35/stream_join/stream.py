import random

import torch
from torch.utils.data import IterableDataset, get_worker_info


class EventStream(IterableDataset):
    """Every process walks over the whole log, and keeps the events that are its own."""

    def __init__(self, events, rank, world, seed=0):
        self.events, self.rank, self.world, self.seed = events, rank, world, seed
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        info = get_worker_info()
        workers, worker = (info.num_workers, info.id) if info else (1, 0)
        mine, parts = self.rank * workers + worker, self.world * workers
        order = list(range(self.events))
        random.Random(self.seed + self.epoch).shuffle(order)
        for position, number in enumerate(order):
            if position % parts == mine:
                yield self.event(number)

    def event(self, number):
        g = torch.Generator().manual_seed(number)
        x = torch.randn(10, generator=g)
        return x, torch.stack([x[0] * x[1] + x[2], x[3].abs()])
