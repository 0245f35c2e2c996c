from collections import defaultdict

import torch.distributed as dist


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, v):
        self.total += v
        self.count += 1

    @property
    def mean(self):
        return self.total / max(self.count, 1)


class MeterBook:
    def __init__(self):
        self.meters = {}

    def add(self, name, value):
        self.meters.setdefault(name, Meter()).add(value)

    def by_class(self, name):
        if name not in self.meters:
            self.meters[name] = defaultdict(lambda: Meter())
        return self.meters[name]

    def merge(self):
        books = [None] * dist.get_world_size()
        dist.all_gather_object(books, self.meters)
        return books
