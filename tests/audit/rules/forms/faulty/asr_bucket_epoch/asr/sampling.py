import math
import random

import torch.distributed as dist
from torch.utils.data import Sampler


class LengthBucketSampler(Sampler):
    def __init__(self, durations, max_seconds, seed=17):
        self.durations = durations
        self.max_seconds = max_seconds
        self.seed = seed
        self.epoch = 0
        self.world = dist.get_world_size() if dist.is_initialized() else 1
        self.rank = dist.get_rank() if dist.is_initialized() else 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def _batches(self):
        order = sorted(range(len(self.durations)), key=self.durations.__getitem__)
        out, cur, longest = [], [], 0.0
        for idx in order:
            longest = max(longest, self.durations[idx])
            if cur and longest * (len(cur) + 1) > self.max_seconds:
                out.append(cur)
                cur, longest = [], self.durations[idx]
            cur.append(idx)
        if cur:
            out.append(cur)
        return out

    def __iter__(self):
        batches = self._batches()
        random.Random(self.seed + self.epoch).shuffle(batches)
        keep = len(batches) // self.world * self.world
        yield from batches[:keep][self.rank :: self.world]

    def __len__(self):
        return math.floor(len(self._batches()) / self.world)
