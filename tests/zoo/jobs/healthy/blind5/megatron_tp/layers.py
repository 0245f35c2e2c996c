import torch
import torch.distributed as dist
from torch import nn


class _CopyToModelParallelRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class _ReduceFromModelParallelRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def _master_slice(out_features, in_features, dim, seed):
    """The slice of a weight that is drawn whole on each rank, so the result does not depend on the split."""
    g = torch.Generator().manual_seed(seed)
    master = torch.randn(out_features, in_features, generator=g) / in_features**0.5
    return master.chunk(dist.get_world_size(), dim=dim)[dist.get_rank()].clone()


class ColumnParallelLinear(nn.Module):
    def __init__(self, in_features, out_features, seed):
        super().__init__()
        self.weight = nn.Parameter(_master_slice(out_features, in_features, 0, seed))
        self.bias = nn.Parameter(torch.zeros(len(self.weight)))

    def forward(self, x):
        return nn.functional.linear(_CopyToModelParallelRegion.apply(x), self.weight, self.bias)


class RowParallelLinear(nn.Module):
    def __init__(self, in_features, out_features, seed):
        super().__init__()
        self.weight = nn.Parameter(_master_slice(out_features, in_features, 1, seed))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(self, x):
        return _ReduceFromModelParallelRegion.apply(nn.functional.linear(x, self.weight)) + self.bias


class ParallelMLPBlock(nn.Module):
    def __init__(self, hidden, seed):
        super().__init__()
        self.norm = nn.LayerNorm(hidden)
        self.dense_h_to_4h = ColumnParallelLinear(hidden, 4 * hidden, seed)
        self.dense_4h_to_h = RowParallelLinear(4 * hidden, hidden, seed + 1)

    def forward(self, x):
        return x + self.dense_4h_to_h(nn.functional.gelu(self.dense_h_to_4h(self.norm(x))))
