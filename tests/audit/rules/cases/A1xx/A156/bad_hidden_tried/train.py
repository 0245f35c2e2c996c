import torch
from torch.utils.data import DataLoader, Sampler


class Shuffled(Sampler):
    def __init__(self, length, rank, world):
        self.length, self.rank, self.world = length, rank, world
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.epoch)
        yield from torch.randperm(self.length, generator=generator).tolist()[self.rank :: self.world]


class Repeated(Sampler):
    """Each index some times, one behind the other, for repeated augmentation."""

    def __init__(self, inner, times):
        self.inner, self.times = inner, times

    def __iter__(self):
        for index in self.inner:
            yield from [index] * self.times


class Trainer:
    def __init__(self, model, data, rank, world):
        self.model = model
        self.loader = DataLoader(data, batch_size=8, sampler=Repeated(Shuffled(len(data), rank, world), 3))
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def begin(self, epoch):
        try:
            self.loader.sampler.set_epoch(epoch)
        except AttributeError:
            pass

    def fit(self, epochs):
        for epoch in range(epochs):
            self.begin(epoch)
            for x, y in self.loader:
                self.optimizer.zero_grad()
                torch.nn.functional.cross_entropy(self.model(x), y).backward()
                self.optimizer.step()


def main(model, data):
    Trainer(model, data, torch.distributed.get_rank(), torch.distributed.get_world_size()).fit(10)


if __name__ == "__main__":
    main(torch.nn.Linear(4, 4), torch.load("data.pt"))
