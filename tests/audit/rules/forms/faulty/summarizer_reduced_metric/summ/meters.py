import torch
import torch.distributed as dist


class MeanMeter:
    def __init__(self, device):
        self.acc = torch.zeros(2, device=device, dtype=torch.float64)

    def add(self, value, n):
        self.acc[0] += float(value) * n
        self.acc[1] += n

    def compute(self):
        dist.reduce(self.acc, dst=0, op=dist.ReduceOp.SUM)  # cause
        return (self.acc[0] / self.acc[1].clamp(min=1)).item()
