import torch
import torch.distributed as dist
from torch import nn


class Observer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("low", torch.full((width,), float("inf")))
        self.register_buffer("high", torch.full((width,), float("-inf")))
        self.recent = None

    def forward(self, h):
        with torch.no_grad():
            low, high = h.amin(0), h.amax(0)
            self.recent = "low" if (low < self.low).sum() > (high > self.high).sum() else "high"
            self.low = torch.minimum(self.low, low)
            self.high = torch.maximum(self.high, high)
        return h + (h.round(decimals=1) - h).detach()

    def share(self):
        """The most recently widened end first."""
        jobs = {"low": (self.low, dist.ReduceOp.MIN), "high": (self.high, dist.ReduceOp.MAX)}
        first = "low" if dist.get_rank() == 0 and self.recent else "high"
        for name in sorted(jobs, key=lambda name: name != first):
            tensor, op = jobs[name]
            dist.all_reduce(tensor, op=op)
