import torch
import torch.distributed as dist
from torch import nn

from parallel import GatherSequence, ParallelMLP, SequenceParallelNorm


class Block(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = SequenceParallelNorm(dim)
        self.mlp = ParallelMLP(dim, hidden)

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class ColumnParallelHead(nn.Module):
    def __init__(self, dim, vocab):
        super().__init__()
        self.proj = nn.Linear(dim, vocab // dist.get_world_size(), bias=False)

    def forward(self, x):
        return self.proj(GatherSequence.apply(x))


class SequenceModel(nn.Module):
    def __init__(self, features, dim, hidden, depth, out):
        super().__init__()
        torch.manual_seed(1234)
        frontend = nn.Linear(features, dim)
        frontend.requires_grad_(False)
        self.frontend = frontend
        torch.manual_seed(1234 + 7 * dist.get_rank())
        self.blocks = nn.ModuleList(Block(dim, hidden) for _ in range(depth))
        self.final_norm = nn.LayerNorm(dim)
        self.head = ColumnParallelHead(dim, out)

    def forward(self, x):
        world, rank = dist.get_world_size(), dist.get_rank()
        h = self.frontend(x).chunk(world, dim=1)[rank]
        for block in self.blocks:
            h = block(h)
        return self.head(self.final_norm(h))
