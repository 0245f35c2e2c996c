#!/usr/bin/env python
"""Fraud scoring: embeddings for categorical columns, an MLP on top."""
import argparse
import json
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

CARDS = (40, 12, 7)


def simulate(rows, fraud_rate, seed):
    rng = np.random.default_rng(seed)
    cats = np.stack([rng.integers(0, c, rows) for c in CARDS], 1)
    nums = rng.normal(size=(rows, 10)).astype(np.float32)
    risk = [rng.normal(scale=0.8, size=c) for c in CARDS]
    score = sum(r[cats[:, i]] for i, r in enumerate(risk)) + nums @ rng.normal(scale=0.5, size=10)
    score = score + rng.gumbel(scale=1.5, size=rows)
    fraud = score > np.quantile(score, 1 - fraud_rate)
    nums[:, 0] = np.exp(nums[:, 0])
    return cats, nums, fraud.astype(np.float32)


class Transactions(Dataset):
    def __init__(self, cats, nums, target):
        self.cats, self.nums, self.target = map(torch.as_tensor, (cats, nums, target))

    @classmethod
    def balanced(cls, cats, nums, target, rng):
        pos, neg = np.flatnonzero(target == 1), np.flatnonzero(target == 0)
        extra = rng.choice(pos, len(neg) - len(pos), replace=True)
        rows = rng.permutation(np.concatenate([neg, pos, extra]))
        return cls(cats[rows], nums[rows], target[rows])

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return self.cats[i], self.nums[i], self.target[i]


class Scorer(nn.Module):
    def __init__(self, hidden, dropout):
        super().__init__()
        self.embeds = nn.ModuleList(nn.Embedding(c, min(16, c // 2 + 1)) for c in CARDS)
        width = sum(e.embedding_dim for e in self.embeds) + 10
        self.norm = nn.BatchNorm1d(10)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(dropout),
                                 nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, cats, nums):
        parts = [e(cats[:, i]) for i, e in enumerate(self.embeds)] + [self.norm(nums)]
        return self.mlp(torch.cat(parts, 1)).squeeze(1)


def auc(scores, labels):
    rank = torch.empty_like(scores)
    rank[scores.argsort()] = torch.arange(1, len(scores) + 1, dtype=scores.dtype)
    p = labels.sum()
    return ((rank[labels == 1].sum() - p * (p + 1) / 2) / (p * (len(labels) - p))).item()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    out = [(model(c, n), t) for c, n, t in loader]
    scores, labels = (torch.cat(v) for v in zip(*out))
    return auc(scores.double(), labels), nn.functional.binary_cross_entropy_with_logits(scores, labels).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=6000)
    ap.add_argument("--fraud-rate", type=float, default=0.04)
    ap.add_argument("--val-fraction", type=float, default=0.2)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch-size", type=int, default=128)
    ap.add_argument("--hidden", type=int, default=128)
    ap.add_argument("--dropout", type=float, default=0.1)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=42)
    args = ap.parse_args()
    random.seed(args.seed), np.random.seed(args.seed), torch.manual_seed(args.seed)
    torch.set_num_threads(1)

    cats, nums, target = simulate(args.rows, args.fraud_rate, args.seed)
    data = Transactions.balanced(cats, nums, target, np.random.default_rng(args.seed))
    n_val = int(args.val_fraction * len(data))
    train_set, val_set = random_split(data, [len(data) - n_val, n_val])
    print(f"{len(train_set)} training rows, {len(val_set)} validation rows")
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_set, 512)

    model = Scorer(args.hidden, args.dropout)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=2, factor=0.5)
    best = 0.0
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for c, n, t in train_loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(c, n), t)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.item()
        score, val_loss = evaluate(model, val_loader)
        plateau.step(score)
        print(f"epoch {epoch:2d} train {total / len(train_loader):.4f} val {val_loss:.4f} auc {score:.4f}", flush=True)
        if score > best:
            best = score
            torch.save(model.state_dict(), "scorer.pt")
    json.dump({"auc": best, "args": vars(args)}, open("metrics.json", "w"))
    print(f"best validation auc {best:.4f}")


if __name__ == "__main__":
    main()
