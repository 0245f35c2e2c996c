import os
import random

import torch
from torch.utils.data import DataLoader, Dataset


class Jitter:
    def __init__(self, amount, seed):
        self.amount = amount
        self.dice = random.Random(seed)

    def apply(self, x):
        return x * (1 + self.dice.uniform(-self.amount, self.amount))


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.jitter = Jitter(0.1, seed=3)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        return self.jitter.apply(self.rows[at])


loader = DataLoader(Rows(torch.randn(512, 8)), 16, shuffle=True, num_workers=int(os.environ.get("WORKERS", "6")))
for batch in loader:
    print(batch.mean())
