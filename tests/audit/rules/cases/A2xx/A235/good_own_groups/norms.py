import torch
import torch.distributed as dist
from torch import nn


class NormOfOwnGroups(nn.Module):
    """The groups of a group norm lie within a rank; what is reduced is what the layer gives."""

    def __init__(self, linear, group, eps=1e-5):
        super().__init__()
        self.linear, self.group, self.eps = linear, group, eps

    def forward(self, x, gate):
        x = x * gate
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        out = self.linear(x)
        dist.all_reduce(out, group=self.group)
        return out + out.mean(-1, keepdim=True)


def scaled(x, weight, group):
    """The scale of a rank's numbers goes out again before they are summed."""
    scale = x.abs().amax(-1, keepdim=True) / 127
    part = ((x / scale).round() * scale * weight).sum(-1)
    dist.all_reduce(part, group=group)
    return part
