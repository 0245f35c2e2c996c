import torch
import torch.distributed as dist
from torch import nn


class NormOfOneOrManyRanks(nn.Module):
    """Where the features are not divided, a rank's own statistics are those of the whole row."""

    def __init__(self, width, group=None, eps=1e-5):
        super().__init__()
        self.width, self.group, self.eps = width, group, eps

    def forward(self, x):
        mean = x.sum(-1, keepdim=True) / self.width
        if self.group is not None:
            dist.all_reduce(mean, group=self.group)
            variance = (x - mean).pow(2).sum(-1, keepdim=True)
            dist.all_reduce(variance, group=self.group)
            variance = variance / self.width
        else:
            variance = x.var(-1, keepdim=True, unbiased=False)
        return (x - mean) * torch.rsqrt(variance + self.eps)


def log_sum(logits, group=None):
    if group is None:
        return torch.logsumexp(logits, -1)
    top = logits.amax(-1)
    dist.all_reduce(top, op=dist.ReduceOp.MAX, group=group)
    total = (logits - top[:, None]).exp().sum(-1)
    dist.all_reduce(total, group=group)
    return top + total.log()


def summed(tensor, group):
    tensor = tensor.clone()
    dist.all_reduce(tensor, group=group)
    return tensor


def entropy(logits, group):
    top = logits.max(dim=-1, keepdim=True).values
    dist.all_reduce(top, op=dist.ReduceOp.MAX, group=group)
    exp = (logits - top).exp_()
    total = summed(exp.sum(dim=-1, keepdim=True), group)
    expected = summed((exp.div_(total) * logits).sum(dim=-1, keepdim=True), group)
    return (top + total.log() - expected).squeeze(-1)
