import torch
import torch.distributed as dist


class SpikeGuard:
    """Batches whose loss is far above the running mean are left out on all ranks."""

    def __init__(self, factor, decay=0.95):
        self.factor, self.decay = factor, decay
        self.mean = 0.0
        self.rejected = 0

    def reject(self, loss):
        bad = not torch.isfinite(loss) or loss > self.factor * self.mean
        flag = torch.tensor(float(bad))
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        if flag.item():
            self.rejected += 1
            return True
        self.mean = self.decay * self.mean + (1 - self.decay) * loss.item()
        return False
