from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class GPTConfig:
    vocab: int = 48
    block: int = 32
    dim: int = 64
    heads: int = 4
    layers: int = 2
    dropout: float = 0.2


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(c.dim), nn.LayerNorm(c.dim)
        self.qkv, self.proj = nn.Linear(c.dim, 3 * c.dim), nn.Linear(c.dim, c.dim)
        self.mlp = nn.Sequential(nn.Linear(c.dim, 4 * c.dim), nn.GELU(), nn.Linear(4 * c.dim, c.dim), nn.Dropout(c.dropout))
        self.heads, self.drop = c.heads, nn.Dropout(c.dropout)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d)
        x = x + self.drop(self.proj(a))
        return x + self.mlp(self.n2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.tok, self.pos = nn.Embedding(c.vocab, c.dim), nn.Embedding(c.block, c.dim)
        self.drop = nn.Dropout(c.dropout)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.layers)])
        self.norm, self.head = nn.LayerNorm(c.dim), nn.Linear(c.dim, c.vocab)

    def forward(self, x, y=None):
        h = self.drop(self.tok(x) + self.pos(torch.arange(x.shape[1])))
        for block in self.blocks:
            h = block(h)
        logits = self.head(self.norm(h))
        return logits, None if y is None else F.cross_entropy(logits.flatten(0, 1), y.flatten())
