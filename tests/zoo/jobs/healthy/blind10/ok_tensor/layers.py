import torch
import torch.distributed as dist
from torch import nn


class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous().clone()
        dist.all_reduce(grad)
        return grad


class Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


class ParallelMLP(nn.Module):
    """Columns of the first and rows of the second matrix are divided over the ranks."""

    def __init__(self, width, hidden):
        super().__init__()
        part = hidden // dist.get_world_size()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, part)
        self.down = nn.Linear(part, width, bias=False)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        h = torch.relu(self.up(Copy.apply(self.norm(x))))
        return x + Reduce.apply(self.down(h)) + self.bias
