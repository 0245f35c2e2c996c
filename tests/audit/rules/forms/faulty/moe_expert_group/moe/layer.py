import torch
import torch.distributed as dist
from torch import nn


class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        out = torch.empty_like(x)
        dist.all_to_all_single(out, x.contiguous(), group=group)
        return out

    @staticmethod
    def backward(ctx, grad):
        out = torch.empty_like(grad)
        dist.all_to_all_single(out, grad.contiguous(), group=ctx.group)
        return out, None


class ExpertLayer(nn.Module):
    def __init__(self, dim, capacity, groups):
        super().__init__()
        self.groups = groups
        self.capacity = capacity
        self.n = groups.dims.expert
        self.router = nn.Linear(dim, self.n, bias=False)
        self.expert = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        flat = x.flatten(0, -2)
        weight, choice = self.router(flat).softmax(-1).max(-1)
        slots = flat.new_zeros(self.n, self.capacity, flat.size(-1))
        place = nn.functional.one_hot(choice, self.n).cumsum(0).gather(1, choice[:, None]).squeeze(1) - 1
        keep = place < self.capacity
        slots[choice[keep], place[keep]] = flat[keep]
        got = AllToAll.apply(slots, self.groups.expert_group)
        back = AllToAll.apply(self.expert(got), self.groups.expert_group)
        out = torch.zeros_like(flat)
        out[keep] = back[choice[keep], place[keep]] * weight[keep, None]
        return out.view_as(x)


def reduce_expert_grads(layer):
    group = layer.groups.replica_group
    for p in layer.expert.parameters():
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG, group=group)
