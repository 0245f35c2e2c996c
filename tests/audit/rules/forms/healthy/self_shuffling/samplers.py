import math

import torch
import torch.distributed as dist
from torch.utils.data import Sampler


class LengthBuckets(Sampler):
    """Batches of similar length; every pass draws a new order, the same on all ranks."""

    def __init__(self, lengths, batch, seed=0):
        self.order = torch.as_tensor(lengths).argsort()
        self.batch, self.seed = batch, seed
        self.passes = 0
        self.rank, self.world = dist.get_rank(), dist.get_world_size()

    def __len__(self):
        return len(self.order) // (self.batch * self.world)

    def __iter__(self):
        gen = torch.Generator().manual_seed(self.seed * 10007 + self.passes)
        self.passes += 1
        wide = self.batch * self.world
        rows = self.order[:len(self) * wide].view(-1, wide)
        for i in torch.randperm(len(rows), generator=gen).tolist():
            yield rows[i, self.rank::self.world].tolist()
