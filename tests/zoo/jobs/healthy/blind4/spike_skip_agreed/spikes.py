"""Batches whose loss is odd on any rank are left out by all ranks."""
import collections
import math

import torch
import torch.distributed as dist


class LossSpike(ArithmeticError):
    pass


class SpikeGuard:
    def __init__(self, window=10, factor=8.0):
        self.recent = collections.deque(maxlen=window)
        self.factor = factor
        self.local, self.agreed = 0, 0

    def check(self, value):
        if not math.isfinite(value):
            raise LossSpike(f"loss is {value}")
        if len(self.recent) == self.recent.maxlen:
            usual = sum(self.recent) / len(self.recent)
            if value > self.factor * usual:
                raise LossSpike(f"loss {value:.3g}, usually {usual:.3g}")
        self.recent.append(value)

    def should_skip(self, value):
        try:
            self.check(value)
            flag = torch.zeros(1)
        except LossSpike:
            self.local += 1
            flag = torch.ones(1)
        dist.all_reduce(flag, dist.ReduceOp.MAX)
        self.agreed += int(flag)
        return bool(flag)
