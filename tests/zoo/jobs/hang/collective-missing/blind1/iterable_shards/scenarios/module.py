import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from scenarios.files import shards


class Lines(IterableDataset):
    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        for path in self.paths:
            with open(path) as f:
                for line in f:
                    yield torch.tensor([int(v) for v in line.split()])


class DataModule:
    def __init__(self, folder, rank, world, batch_size=8):
        self.paths, self.batch_size = shards(folder, rank, world), batch_size

    def train_dataloader(self):
        return DataLoader(Lines(self.paths), batch_size=self.batch_size)


class NextToken(nn.Module):
    def __init__(self, vocab=100, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])
