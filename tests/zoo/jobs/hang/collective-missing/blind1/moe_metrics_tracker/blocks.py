import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim, routed):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.router = nn.Linear(dim, 4) if routed else None
        self.up = nn.ModuleList([nn.Linear(dim, dim) for _ in range(4 if routed else 1)])

    def forward(self, x, tracker):
        h = self.norm(x)
        if self.router is None:
            return x + self.up[0](h)
        gates = self.router(h).softmax(-1)
        if gates.max() > 0.5:
            tracker.record("z_loss", self.router(h).logsumexp(-1).pow(2).mean().detach())
        tracker.record("load_balancing", gates.mean(0).pow(2).sum().detach())
        return x + sum(g.unsqueeze(-1) * up(h) for g, up in zip(gates.unbind(-1), self.up))


class Decoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, routed=i == 0) for i in range(4)])
        self.head = nn.Linear(dim, 1)

    def forward(self, x, tracker):
        for block in self.blocks:
            x = block(x, tracker)
        return self.head(x)


def synthetic(rank, step, dim=16):
    gen = torch.Generator().manual_seed(1000 * rank + step)
    x = torch.randn(12, dim, generator=gen) * 4
    if rank == 0 and 20 <= step < 30:
        x = torch.zeros(12, dim)
    return x, torch.randn(12, 1, generator=gen)
