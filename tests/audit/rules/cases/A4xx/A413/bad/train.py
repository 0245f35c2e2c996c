import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, files):
        self.files, self.epoch = files, 0

    def __iter__(self):
        for at in self._order():
            yield torch.load(self.files[at])

    def _order(self):
        return np.random.default_rng(self.epoch).permutation(len(self.files))


def main(files, net, optimizer):
    data = Stream(files)
    loader = DataLoader(data, batch_size=4, num_workers=2, persistent_workers=True)
    for epoch in range(10):
        data.epoch = epoch
        for x in loader:
            net(x).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
