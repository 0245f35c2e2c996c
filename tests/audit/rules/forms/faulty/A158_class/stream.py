from torch.utils.data import IterableDataset
import torch


class Lines(IterableDataset):  # cause
    def __init__(self, path):
        self.path = path

    def read(self):
        with open(self.path) as lines:
            yield from lines

    def __iter__(self):  # cause
        for line in self.read():
            yield torch.tensor([float(len(line))])
