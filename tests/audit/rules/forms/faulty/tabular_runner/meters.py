import torch
import torch.distributed as dist


class Mean:
    """Weighted running mean over batches and processes."""

    def __init__(self, device):
        self.device = device
        self.clear()

    def clear(self):
        self.total = torch.zeros((), dtype=torch.float64, device=self.device)
        self.weight = torch.zeros((), dtype=torch.float64, device=self.device)

    def add(self, value, n):
        self.total += value.detach().double() * n
        self.weight += n

    def compute(self):
        packed = torch.stack([self.total, self.weight])
        dist.reduce(packed, dst=0, op=dist.ReduceOp.SUM)  # cause
        return (packed[0] / packed[1].clamp(min=1)).item()
