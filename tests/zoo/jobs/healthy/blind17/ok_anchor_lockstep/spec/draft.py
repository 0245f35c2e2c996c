import torch
from torch import nn


class NoAnchors(ValueError):
    pass


class Drafter(nn.Module):
    def __init__(self, vocab=80, dim=40, block=6):
        super().__init__()
        self.block = block
        self.target = nn.Embedding(vocab, dim).requires_grad_(False)
        self.mix = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab)

    def anchors(self, ids):
        lengths = (ids != 0).sum(1)
        rows = (lengths > 3 * self.block).nonzero().flatten()
        if len(rows) == 0:
            raise NoAnchors("every draft is shorter than its blocks")
        return rows

    def forward(self, ids, rows):
        ids = ids[rows]
        h, _ = self.mix(self.target(ids[:, :-1]))
        return nn.functional.cross_entropy(self.head(h).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
