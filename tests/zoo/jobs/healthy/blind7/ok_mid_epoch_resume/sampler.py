import torch
from torch.utils.data import Sampler


class ResumableSampler(Sampler):
    """A rank's part of each epoch's permutation, which can be entered in the middle."""

    def __init__(self, size, rank, world, seed=0):
        self.size, self.rank, self.world, self.seed = size, rank, world, seed
        self.epoch, self.start = 0, 0

    def set_position(self, epoch, consumed):
        self.epoch, self.start = epoch, consumed

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed * 1000 + self.epoch)
        mine = torch.randperm(self.size, generator=g)[self.rank :: self.world]
        yield from mine[self.start :].tolist()

    def __len__(self):
        return self.size // self.world - self.start
