import math

import torch
import torch.distributed as dist
from torch.utils.data import Sampler


class BalancedShards(Sampler):
    """Draws classes evenly; each pass has an order of its own."""

    def __init__(self, labels, seed=0):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.seed, self.passes = seed, 0
        counts = torch.bincount(labels).double()
        self.weights = 1.0 / counts[labels]
        self.per_rank = math.ceil(len(labels) / self.world)

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + self.passes)
        self.passes += 1
        picks = torch.multinomial(self.weights, self.per_rank * self.world, replacement=True, generator=g)
        return iter(picks[self.rank :: self.world].tolist())

    def __len__(self):
        return self.per_rank
