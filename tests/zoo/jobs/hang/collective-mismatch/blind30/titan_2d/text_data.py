import random

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Lines(Dataset):
    """Arithmetic progressions modulo the vocabulary, of different lengths."""

    def __init__(self, size, vocab, max_len, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(size):
            start, inc, n = rng.randrange(1, vocab), rng.randrange(1, 7), rng.randrange(max_len // 4, max_len)
            self.rows.append([1 + (start + inc * k) % (vocab - 1) for k in range(n)])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    """Pads to the longest line of the batch."""
    width = max(map(len, rows))
    out = torch.zeros(len(rows), width, dtype=torch.long)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row)
    return out[:, :-1], out[:, 1:]


def build_loader(args):
    data = Lines(args.train_size, args.vocab, args.max_len, args.seed)
    sampler = DistributedSampler(data, shuffle=True, seed=args.seed, drop_last=True)
    return DataLoader(data, batch_size=args.batch_size, sampler=sampler, collate_fn=collate, drop_last=True), sampler
