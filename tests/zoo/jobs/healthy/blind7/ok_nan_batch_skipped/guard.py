import torch
import torch.distributed as dist


class SpikeGuard:
    """Leaves out a batch on all ranks when any rank's loss is not finite or far above its average."""

    def __init__(self, factor=6.0, momentum=0.9):
        self.factor, self.momentum, self.average, self.skipped = factor, momentum, None, 0

    def bad(self, loss):
        value = loss.item()
        flag = not torch.isfinite(loss).item()
        if self.average is not None:
            flag = flag or value > self.factor * self.average
        agreed = torch.tensor(float(flag))
        dist.all_reduce(agreed, op=dist.ReduceOp.MAX)
        if agreed.item():
            self.skipped += 1
            return True
        self.average = value if self.average is None else self.momentum * self.average + (1 - self.momentum) * value
        return False
