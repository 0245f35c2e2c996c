import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Lazy:
    def __init__(self, path):
        self.path, self.file = path, None

    def read(self, key):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        return self.file[key][...]


class Whole:
    def __init__(self, path):
        with h5py.File(path, "r") as file:
            self.names = sorted(file)
            self.numbers = [file[name][...] for name in self.names]


class Fields(Dataset):
    def __init__(self, path):
        self.lazy, self.whole, self.mapped = Lazy(path), Whole(path), np.load("mapped.npy", mmap_mode="r")

    def __len__(self):
        return len(self.whole.names)

    def __getitem__(self, i):
        return torch.from_numpy(self.lazy.read(self.whole.names[i])), torch.from_numpy(self.mapped[i])


def main():
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(Fields("fields.h5"), batch_size=8, num_workers=4):
        (net(x) - y).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
