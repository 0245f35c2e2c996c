import torch
import torch.distributed as dist
from torch import nn


class ShardedLayerNorm(nn.Module):
    """A layer norm over features that are divided over the ranks."""

    def __init__(self, width, group, eps=1e-5):
        super().__init__()
        self.group, self.eps = group, eps
        self.weight = nn.Parameter(torch.ones(width // dist.get_world_size(group)))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        dist.all_reduce(mean, op=dist.ReduceOp.AVG, group=self.group)
        variance = (x - mean).pow(2).mean(-1, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.weight


class ShardedBatchNorm(nn.Module):
    """Batch statistics of all ranks: the mean is, the variance isn't."""

    def __init__(self, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        mean = x.mean(0)
        dist.all_reduce(mean, op=dist.ReduceOp.AVG)
        centred = x - mean
        return centred / (centred.square().mean(0) + self.eps).sqrt()
