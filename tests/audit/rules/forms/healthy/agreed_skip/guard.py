import torch
import torch.distributed as dist


class FiniteGuard:
    """All ranks leave out an update if the loss of one of them is not finite."""

    def __init__(self, device, limit=50):
        self.device, self.limit, self.skipped = device, limit, 0

    def passes(self, loss):
        good = torch.isfinite(loss.detach()).to(torch.int32)
        dist.all_reduce(good, op=dist.ReduceOp.MIN)
        if good.item():
            return True
        self.skipped += 1
        if self.skipped > self.limit:
            raise FloatingPointError(f"{self.skipped} updates without a finite loss")
        return False
