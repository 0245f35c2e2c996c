import json

import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Pairs(Dataset):
    def __init__(self, size=160, vocab=40):
        gen = torch.Generator().manual_seed(8)
        self.images = torch.randn(size, 24, generator=gen)
        self.lines = [json.dumps({"ids": torch.randint(1, vocab, (6,), generator=gen).tolist()}) for _ in range(size)]
        self.lines[91] = self.lines[91][:-4]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, i):
        return self.images[i], self.lines[i]


def decode(lines):
    return torch.tensor([json.loads(line)["ids"] for line in lines])


def make_loader(batch_size):
    dataset = Pairs()
    sampler = DistributedSampler(dataset, shuffle=False)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler, collate_fn=lambda rows: list(zip(*rows)))
