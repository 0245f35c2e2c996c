import json

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Rows(Dataset):
    def __init__(self, rows, vocab, width=24):
        self.rows, self.vocab, self.width = rows, vocab, width

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        ids = [1 + sum(map(ord, w)) % (self.vocab - 1) for w in row["query"].split()][: self.width]
        return torch.tensor(ids + [0] * (self.width - len(ids))), row["label"]


def load_dataset(path, vocab, split):
    with open(path) as f:
        rows = [json.loads(line) for line in f]
    held = int(len(rows) * split)
    return Rows(rows[held:], vocab), Rows(rows[:held], vocab)


def loader_for(dataset, batch_size, epoch):
    sampler = DistributedSampler(dataset, seed=5)
    sampler.set_epoch(epoch)
    return DataLoader(dataset, batch_size, sampler=sampler)
