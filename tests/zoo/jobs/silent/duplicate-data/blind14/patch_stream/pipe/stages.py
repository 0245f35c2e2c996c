"""A chain of lazy stages: source -> shard -> skip -> shuffle -> map."""
import random

import torch
from torch.utils.data import IterableDataset


class PatchSource:
    def __init__(self, shards=12, per_shard=160, size=20, classes=5, seed=21):
        self.shards, self.per_shard, self.size = shards, per_shard, size
        self.proto = torch.randn(classes, 3, size, size, generator=torch.Generator().manual_seed(seed))
        self.classes = classes
        self.seed = seed

    def names(self):
        return list(range(self.shards))

    def read(self, name):
        g = torch.Generator().manual_seed(self.seed * 1000 + name)
        labels = torch.randint(0, self.classes, (self.per_shard,), generator=g)
        for label in labels.tolist():
            yield self.proto[label] + 2.5 * torch.randn(3, self.size, self.size, generator=g), label


class Stage:
    def shard(self, index, count):
        raise NotImplementedError

    def iterate(self, epoch):
        raise NotImplementedError


class Read(Stage):
    def __init__(self, source, names=None):
        self.source = source
        self.files = source.names() if names is None else names

    def shard(self, index, count):
        return Read(self.source, self.files[index::count])

    def iterate(self, epoch):
        order = list(self.files)
        random.Random(epoch).shuffle(order)
        for name in order:
            yield from self.source.read(name)


class Skip(Stage):
    def __init__(self, parent, n):
        self.parent, self.n = parent, n

    def shard(self, index, count):
        return self

    def iterate(self, epoch):
        it = self.parent.iterate(epoch)
        for k, item in enumerate(it):
            if k >= self.n:
                yield item


class Shuffle(Stage):
    def __init__(self, parent, buffer, seed):
        self.parent, self.buffer, self.seed = parent, buffer, seed

    def shard(self, index, count):
        return Shuffle(self.parent.shard(index, count), self.buffer, self.seed)

    def iterate(self, epoch):
        rnd, held = random.Random(self.seed), []
        for item in self.parent.iterate(epoch):
            if len(held) < self.buffer:
                held.append(item)
                continue
            k = rnd.randrange(self.buffer)
            held[k], item = item, held[k]
            yield item
        yield from held


class Map(Stage):
    def __init__(self, parent, fn):
        self.parent, self.fn = parent, fn

    def shard(self, index, count):
        return Map(self.parent.shard(index, count), self.fn)

    def iterate(self, epoch):
        for item in self.parent.iterate(epoch):
            yield self.fn(*item)


class Stream(IterableDataset):
    def __init__(self, stage):
        self.stage = stage
        self.epoch = 0

    def skip(self, n):
        return Stream(Skip(self.stage, n))

    def shuffle(self, buffer, seed=0):
        return Stream(Shuffle(self.stage, buffer, seed))

    def map(self, fn):
        return Stream(Map(self.stage, fn))

    def split(self, rank, world):
        return Stream(self.stage.shard(rank, world))

    def __iter__(self):
        yield from self.stage.iterate(self.epoch)

    @classmethod
    def from_source(cls, source):
        return cls(Read(source))
