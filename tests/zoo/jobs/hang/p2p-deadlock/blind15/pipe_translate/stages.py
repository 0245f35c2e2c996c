import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class FirstStage(nn.Module):
    def __init__(self, vocab, dim, depth):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.Sequential(*[Block(dim) for _ in range(depth)])

    def forward(self, tokens):
        return self.blocks(self.embed(tokens))


class LastStage(nn.Module):
    def __init__(self, vocab, dim, depth):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, vocab)

    def forward(self, hidden):
        return self.head(self.blocks(hidden))


def build_stage(rank, cfg):
    torch.manual_seed(cfg.seed + rank)
    kind = FirstStage if rank == 0 else LastStage
    return kind(cfg.vocab, cfg.dim, cfg.depth)
