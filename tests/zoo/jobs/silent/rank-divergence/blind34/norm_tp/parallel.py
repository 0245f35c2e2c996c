import torch
import torch.distributed as dist
from torch import nn


def _gather(x):
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x.contiguous())
    return torch.cat(parts, dim=1)


def _reduce_scatter(x):
    x = x.contiguous()
    dist.all_reduce(x)
    return x.chunk(dist.get_world_size(), dim=1)[dist.get_rank()].contiguous()


class GatherSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return _gather(x)

    @staticmethod
    def backward(ctx, grad):
        return _reduce_scatter(grad.clone())


class ScatterSequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return _reduce_scatter(x.clone())

    @staticmethod
    def backward(ctx, grad):
        return _gather(grad)


class ParallelMLP(nn.Module):
    """Column parallel, then row parallel; the sequence is gathered before and scattered after."""

    def __init__(self, dim, hidden):
        super().__init__()
        world = dist.get_world_size()
        self.up = nn.Linear(dim, hidden // world)
        self.down = nn.Linear(hidden // world, dim, bias=False)

    def forward(self, x):
        h = torch.nn.functional.gelu(self.up(GatherSequence.apply(x)))
        return ScatterSequence.apply(self.down(h))


class SequenceParallelNorm(nn.LayerNorm):
    def __init__(self, dim):
        super().__init__(dim)
        for p in self.parameters():
            p.sequence_parallel = True


def finalize_grads(model):
    """Sums the gradients of the parameters that have seen only this rank's part of the sequence."""
    grads = [p.grad for p in model.parameters() if getattr(p, "sequence_parallel", False) and p.grad is not None]
    if grads:
        flat = torch.cat([g.flatten() for g in grads])
        dist.all_reduce(flat)
        for g, part in zip(grads, flat.split([g.numel() for g in grads])):
            g.copy_(part.view_as(g))
