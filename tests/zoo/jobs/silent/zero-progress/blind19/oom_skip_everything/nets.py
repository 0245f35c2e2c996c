import torch
import torch.nn as nn


class NeighborTagger(nn.Module):
    """Labels tokens with the help of retrieved neighbors."""

    def __init__(self, vocab=120, dim=64, labels=9, neighbors=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.enc = nn.GRU(dim, dim, batch_first=True)
        self.mix = nn.Linear(dim * neighbors, dim)
        self.out = nn.Linear(2 * dim, labels)

    def forward(self, ids, neighbor_ids):
        h, _ = self.enc(self.emb(ids))
        b, k, t = neighbor_ids.shape
        n = self.emb(neighbor_ids).mean(dim=2).reshape(b, -1)
        n = torch.tanh(self.mix(n))[:, None].expand(-1, ids.shape[1], -1)
        return self.out(torch.cat([h, n], dim=-1))
