from multiprocessing import Value

import torch
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, images):
        self.images = images
        self._level = Value("d", 0.0)
        self.epoch = 0
        self.bound = 1.0

    @property
    def level(self):
        return self._level.value

    @level.setter
    def level(self, level):
        self._level.value = level

    def set_level(self, level):
        self._level.value = level

    def set_bound(self, bound):
        self.bound = bound

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i].clamp(max=self.bound) * self.level


def fit(net, loader, optimizer):
    for x in loader:
        net(x).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def main(images, net, optimizer):
    data = Images(images)
    data.set_bound(2.0)  # before the workers begin
    loader = DataLoader(data, 8, num_workers=4, persistent_workers=True)
    for epoch in range(10):
        data.epoch = epoch  # nothing in a worker reads it
        data.set_level(epoch / 10)
        data.level = epoch / 10
        fit(net, loader, optimizer)


def anew(images, net, optimizer):
    data = Images(images)
    for epoch in range(10):
        data.set_bound(epoch)
        fit(net, DataLoader(data, 8, num_workers=4, persistent_workers=True), optimizer)
