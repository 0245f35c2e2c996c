import torch
from torch.utils.data import DataLoader, Sampler
from torch.utils.data.distributed import DistributedSampler


class Repeated(Sampler):
    def __init__(self, inner, times):
        self.inner, self.times = inner, times

    def __iter__(self):
        for index in self.inner:
            yield from [index] * self.times


class Passing(Repeated):
    def set_epoch(self, epoch):
        self.inner.set_epoch(epoch)


class Open(Repeated):
    def __getattr__(self, name):
        return getattr(self.inner, name)


def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def passes(model, data, optimizer, epochs):
    loader = DataLoader(data, batch_size=8, sampler=Passing(DistributedSampler(data), 3))
    for epoch in range(epochs):
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        train(model, loader, optimizer)


def through(model, data, optimizer, epochs):
    loader = DataLoader(data, batch_size=8, sampler=Open(DistributedSampler(data), 3))
    for epoch in range(epochs):
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        train(model, loader, optimizer)


def told_itself(model, data, optimizer, epochs):
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=Repeated(sampler, 3))
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        train(model, loader, optimizer)


def in_order(model, data, optimizer, epochs):
    loader = DataLoader(data, batch_size=8, sampler=Repeated(DistributedSampler(data, shuffle=False), 3))
    for epoch in range(epochs):
        if hasattr(loader.sampler, "set_epoch"):
            loader.sampler.set_epoch(epoch)
        train(model, loader, optimizer)


def main(model, data, optimizer):
    passes(model, data, optimizer, 10)
    through(model, data, optimizer, 10)
    told_itself(model, data, optimizer, 10)
    in_order(model, data, optimizer, 10)


if __name__ == "__main__":
    net = torch.nn.Linear(4, 4)
    main(net, torch.load("data.pt"), torch.optim.SGD(net.parameters(), lr=0.1))
