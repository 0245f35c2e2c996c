import math

import torch
import torch.distributed as dist


class LossGuard:
    """A batch whose loss is not finite anywhere is left out everywhere."""

    def __init__(self, max_consecutive=4):
        self.max_consecutive = max_consecutive
        self.consecutive = self.total = 0

    def should_skip(self, loss):
        checker = torch.tensor(0.0 if math.isfinite(loss.item()) else 1.0)
        dist.all_reduce(checker, op=dist.ReduceOp.MAX)
        skip = checker.item() > 0
        self.consecutive = self.consecutive + 1 if skip else 0
        self.total += skip
        if self.consecutive > self.max_consecutive:
            raise RuntimeError(f"loss was not finite {self.consecutive} times in a row")
        return skip
