import random

import torch
from torch.utils.data import DataLoader, IterableDataset

from .stages import stage_of


class Utterances(IterableDataset):
    def __init__(self, manifest, rank, world):
        self.rows = manifest[rank::world]
        self.stage = stage_of(0)

    def __iter__(self):
        for uid, n in self.rows:
            if self.stage.min_len <= n <= self.stage.max_len:
                gen = torch.Generator().manual_seed(uid)
                yield torch.randn(n, 16, generator=gen), uid % 4


def pad(items):
    xs, ys = zip(*items)
    lens = torch.tensor([len(x) for x in xs])
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True), lens, torch.tensor(ys)


class DataModule:
    def __init__(self, rank, world, batch, n=2400, seed=2):
        rng = random.Random(seed)
        manifest = []
        for uid in range(n):
            speaker = uid % 2
            base = 14 if speaker else 10
            manifest.append((uid, base + rng.randrange(24)))
        self.train = Utterances(manifest, rank, world)
        self.batch = batch

    def set_epoch(self, epoch):
        self.train.stage = stage_of(epoch)

    def loader(self):
        return DataLoader(self.train, self.batch, collate_fn=pad, num_workers=1, drop_last=True)
