import random

import torch
from torch.utils.data import DataLoader, IterableDataset


class Walks(IterableDataset):
    def __init__(self):
        self.dice = random.Random(0)

    def __iter__(self):
        self.dice = random.Random(torch.initial_seed())
        while True:
            yield torch.tensor([self.dice.random() for _ in range(8)])


for number, batch in enumerate(DataLoader(Walks(), batch_size=32, num_workers=4), 1):
    print(number, batch.mean())
    if number == 100:
        break
