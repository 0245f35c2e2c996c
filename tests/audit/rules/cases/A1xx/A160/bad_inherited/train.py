import argparse

import torch
from seeded import Seeded
from torch.utils.data import DataLoader, IterableDataset


class Waves(Seeded, IterableDataset):
    def __init__(self, seed=7):
        Seeded.__init__(self, seed=seed)

    def __iter__(self):
        while True:
            yield torch.from_numpy(self.rng.standard_normal(64)).float()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    loader = DataLoader(Waves(), batch_size=32, num_workers=args.workers)
    net = torch.nn.Linear(64, 1)
    optimizer = torch.optim.Adam(net.parameters())
    for _, batch in zip(range(1000), loader):
        optimizer.zero_grad()
        net(batch).square().mean().backward()
        optimizer.step()


main()
