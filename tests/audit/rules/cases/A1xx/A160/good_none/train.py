import argparse
import random

import torch
from torch.utils.data import DataLoader, IterableDataset


class Walks(IterableDataset):
    def __init__(self):
        self.dice = random.Random(0)

    def __iter__(self):
        while True:
            yield torch.tensor([self.dice.random() for _ in range(8)])


parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
for _, batch in zip(range(100), DataLoader(Walks(), batch_size=32, num_workers=args.workers)):
    print(batch.mean())
