import torch
import torch.distributed as dist


class Averager:
    """Weighted mean over all samples that the ranks have seen."""

    def __init__(self):
        self.sum = torch.zeros(2, dtype=torch.float64)

    def update(self, value, n):
        self.sum += torch.tensor([value * n, n], dtype=torch.float64)

    def compute(self):
        if dist.is_initialized():
            dist.reduce(self.sum, dst=0, op=dist.ReduceOp.SUM)
        return (self.sum[0] / self.sum[1]).item()
