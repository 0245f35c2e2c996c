import random
from typing import Optional

import torch.distributed as dist
from torch.utils.data import Sampler


class CutSampler(Sampler):
    """Yields mini-batches of cut ids of at most ``max_duration``; each rank takes every world_size-th of them."""

    def __init__(self, durations, max_duration, shuffle=True, drop_last=True,
                 world_size: Optional[int] = None, rank: Optional[int] = None, seed=0):
        self.durations = durations
        self.max_duration = max_duration
        self.shuffle = shuffle
        self.drop_last = drop_last
        self.seed = seed
        self.epoch = 0
        self._maybe_init_distributed(world_size, rank)

    def _maybe_init_distributed(self, world_size, rank):
        if world_size is not None:
            assert world_size >= 1
        available = dist.is_available() and dist.is_initialized()
        self.world_size = world_size if world_size is not None else (dist.get_world_size() if available else 1)
        self.rank = rank if rank is not None else (dist.get_rank() if available else 0)
        assert self.rank < self.world_size

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _batches(self):
        order = list(range(len(self.durations)))
        if self.shuffle:
            random.Random(self.seed + self.epoch).shuffle(order)
        batch, total = [], 0.0
        for cut in order:
            if batch and total + self.durations[cut] > self.max_duration:
                yield batch
                batch, total = [], 0.0
            batch.append(cut)
            total += self.durations[cut]

    def __iter__(self):
        batches = list(self._batches())
        if self.drop_last:
            batches = batches[: len(batches) // self.world_size * self.world_size]
        return iter(batches[self.rank :: self.world_size])

    def __len__(self):
        return len(list(iter(self)))
