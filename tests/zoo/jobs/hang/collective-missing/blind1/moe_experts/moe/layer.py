import torch
import torch.distributed as dist
from torch import nn


class AllGatherTokens(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tokens):
        ctx.rank, ctx.n = dist.get_rank(), tokens.shape[0]
        parts = [torch.empty_like(tokens) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, tokens)
        return torch.cat(parts)

    @staticmethod
    def backward(ctx, grad):
        return grad[ctx.rank * ctx.n:(ctx.rank + 1) * ctx.n].clone()


class ExpertParallelMLP(nn.Module):
    """One expert per rank; every rank sees all tokens and keeps those that the router sends to its expert."""

    def __init__(self, dim, hidden):
        super().__init__()
        self.index = dist.get_rank()
        self.router = nn.Linear(dim, dist.get_world_size(), bias=False)
        self.expert = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def forward(self, tokens):
        everything = AllGatherTokens.apply(tokens)
        weight, choice = self.router(everything).softmax(-1).max(-1)
        mine = (choice == self.index).nonzero().squeeze(-1)
        if mine.numel() == 0:
            return None
        return self.expert(everything[mine]) * weight[mine, None], everything[mine]
