import random
from collections import defaultdict

from torch.utils.data import Sampler


class SectionBatches(Sampler):
    """Batches of one section each, dealt to the ranks in turn."""

    def __init__(self, data, batch, rank, world, seed=0):
        self.batch, self.rank, self.world, self.seed, self.epoch = batch, rank, world, seed, 0
        self.groups = defaultdict(list)
        for index, (_, _, section) in enumerate(data.items):
            self.groups[section].append(index)

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        rng = random.Random(self.seed + self.epoch)
        left, batches = [], []
        for indices in self.groups.values():
            order = indices[:]
            rng.shuffle(order)
            full = len(order) - len(order) % self.batch
            batches += [order[i: i + self.batch] for i in range(0, full, self.batch)]
            left += order[full:]
        rng.shuffle(batches)
        batches += [left[i: i + self.batch] for i in range(0, len(left), self.batch)]
        batches = batches[: len(batches) // self.world * self.world]
        return iter(batches[self.rank:: self.world])

    def __len__(self):
        full = sum(len(indices) // self.batch for indices in self.groups.values())
        left = sum(len(indices) % self.batch for indices in self.groups.values())
        return (full + -(-left // self.batch)) // self.world
