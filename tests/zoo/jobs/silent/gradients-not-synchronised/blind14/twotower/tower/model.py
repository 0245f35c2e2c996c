import torch
from torch import nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, n, dim):
        super().__init__()
        self.table = nn.Embedding(n, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, dim * 2), nn.ReLU(), nn.Linear(dim * 2, dim))

    def forward(self, ids):
        return F.normalize(self.mlp(self.table(ids)), dim=-1)


class TwoTower(nn.Module):
    def __init__(self, users, items, dim=32, temperature=0.1):
        super().__init__()
        self.query = Tower(users, dim)
        self.candidate = Tower(items, dim)
        self.temperature = temperature

    def forward(self, user, item):
        return self.query(user), self.candidate(item)

    def in_batch_loss(self, user, item):
        q, c = self(user, item)
        logits = q @ c.T / self.temperature
        dup = item[:, None].eq(item[None]) & ~torch.eye(len(item), dtype=torch.bool)
        return F.cross_entropy(logits.masked_fill(dup, -1e4), torch.arange(len(item)))

    @torch.no_grad()
    def recall(self, pairs, k=20):
        q = self.query(pairs[:, 0])
        top = (q @ self.candidate(torch.arange(self.candidate.table.num_embeddings)).T).topk(k).indices
        return top.eq(pairs[:, 1:]).any(1).float().mean().item()
