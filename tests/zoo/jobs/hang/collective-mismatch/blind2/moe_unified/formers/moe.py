import torch
from torch import nn

from formers.comm import AllToAll, exchange_counts
from formers.router import TopOneRouter


class UnifiedMoE(nn.Module):
    """One expert on each rank of the expert parallel group."""

    def __init__(self, dim, world_size):
        super().__init__()
        self.router = TopOneRouter(dim, world_size)
        self.expert = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def expert_forward(self, tokens):
        if tokens.shape[0] == 0:
            return torch.empty(0, tokens.shape[1], dtype=tokens.dtype)
        return self.expert(tokens)

    def forward(self, x):
        weight, order, counts = self.router(x)
        send = counts.tolist()
        receive = exchange_counts(counts).tolist()
        dispatched = AllToAll.apply(x[order], send, receive)
        combined = AllToAll.apply(self.expert_forward(dispatched), receive, send)
        out = torch.zeros_like(x).index_copy(0, order, combined)
        return x + weight[:, None] * out
