import torch
import torch.distributed as dist
from torch import nn

from .ops import Copy, Reduce


class SplitMLP(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        rank, world = dist.get_rank(), dist.get_world_size()
        gen = torch.Generator().manual_seed(700 + rank)
        self.up = nn.Linear(dim, hidden // world)
        self.down = nn.Linear(hidden // world, dim, bias=False)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(torch.randn(p.shape, generator=gen) * 0.1)

    def forward(self, x):
        return Reduce.apply(self.down(torch.relu(self.up(Copy.apply(x)))))


class Net(nn.Module):
    def __init__(self, vocab=60, dim=32):
        super().__init__()
        torch.manual_seed(0)
        self.emb = nn.Embedding(vocab, dim)
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2))
        self.mlps = nn.ModuleList(SplitMLP(dim, 128) for _ in range(2))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.emb(ids).cumsum(1) / torch.arange(1, ids.shape[1] + 1)[None, :, None]
        for n, m in zip(self.norms, self.mlps):
            h = h + m(n(h))
        return self.head(h)
