import random

import torch


def corpus(n=2400, seed=0):
    rnd = random.Random(seed)
    return [[rnd.randrange(1, 300) for _ in range(int(min(120, 4 + rnd.expovariate(1 / 22))))] for _ in range(n)]


def batches(rows, size):
    """Rows of about one length go together, so that little is padded."""
    rows = sorted(rows, key=len)
    return [rows[i:i + size] for i in range(0, len(rows) - size + 1, size)]


def mine(groups, rank, world):
    per = len(groups) // world
    return groups[rank * per:(rank + 1) * per]


def pad(rows):
    out = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, : len(r)] = torch.tensor(r)
    return out
