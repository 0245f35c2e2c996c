"""A two-tower retriever with multi-head pooling."""
import argparse

import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self, width, heads=8, vocab=300):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.query = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.pool = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, ids):
        x = self.embed(ids)
        pooled, _ = self.pool(self.query.expand(len(x), -1, -1), x, x, need_weights=False)
        return nn.functional.normalize(pooled[:, 0], dim=-1)


def pairs(n, length=12):
    query = torch.randint(0, 300, (n, length))
    keep = torch.rand(n, length) < 0.7
    return query, torch.where(keep, query, torch.randint(0, 300, (n, length)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--steps", type=int, default=120)
    args = parser.parse_args()
    torch.manual_seed(3)
    heads = {32: 4, 64: 8}.get(args.width, 10)
    left, right = Tower(args.width, heads), Tower(args.width, heads)
    optimizer = torch.optim.Adam([*left.parameters(), *right.parameters()], lr=3e-3)
    for step in range(args.steps):
        q, d = pairs(32)
        logits = left(q) @ right(d).T / 0.07
        loss = nn.functional.cross_entropy(logits, torch.arange(32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        q, d = pairs(200)
        hit = (left(q) @ right(d).T).argmax(1).eq(torch.arange(200)).float().mean()
    print(f"recall@1 {hit:.3f}")


if __name__ == "__main__":
    main()
