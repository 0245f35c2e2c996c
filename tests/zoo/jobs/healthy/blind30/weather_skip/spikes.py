import math
from collections import deque

import torch
import torch.distributed as dist


class SpikeGuard:
    """Leaves out a batch on all ranks as soon as one rank's loss is not finite or far above its history."""

    def __init__(self, window=20, factor=4.0):
        self.history = deque(maxlen=window)
        self.factor = factor
        self.skipped = 0

    def _local(self, value):
        if not math.isfinite(value):
            return True
        if len(self.history) == self.history.maxlen:
            if value > self.factor * sum(self.history) / len(self.history):
                return True
        self.history.append(value)
        return False

    def should_skip(self, loss):
        flag = torch.tensor(float(self._local(loss.item())))
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        if flag.item() > 0:
            self.skipped += 1
            return True
        return False
