import random

import torch


class Manifest:
    def __init__(self, n, seed=3):
        rng = random.Random(seed)
        self.items = [(i, rng.randint(20, 60) if i % 2 == 0 else rng.randint(60, 160)) for i in range(n)]

    def shard(self, rank, world):
        return self.items[rank::world]


class FrameBudgetBatches:
    """Packs utterances until the padded batch reaches max_frames."""

    def __init__(self, items, max_frames, seed):
        self.items, self.max_frames, self.seed, self.epoch = items, max_frames, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        order = sorted(self.items, key=lambda it: it[1])
        batches, cur, longest = [], [], 0
        for it in order:
            longest = max(longest, it[1])
            if cur and longest * (len(cur) + 1) > self.max_frames:
                batches.append(cur)
                cur, longest = [], it[1]
            cur.append(it)
        if cur:
            batches.append(cur)
        random.Random(self.seed + self.epoch).shuffle(batches)
        yield from batches


def collate(batch):
    lens = torch.tensor([n for _, n in batch])
    feats = torch.zeros(len(batch), int(lens.max()), 16)
    for k, (uid, n) in enumerate(batch):
        feats[k, :n] = torch.randn(n, 16, generator=torch.Generator().manual_seed(uid))
    targets = torch.tensor([[(uid * j) % 9 + 1 for j in range(1, 6)] for uid, _ in batch])
    return feats, lens, targets
