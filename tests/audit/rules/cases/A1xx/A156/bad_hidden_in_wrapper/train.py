import torch
from torch.utils.data import BatchSampler, DataLoader
from torch.utils.data.distributed import DistributedSampler


class Grouped(BatchSampler):
    """Batches of images of one shape."""

    def __init__(self, sampler, shapes, size):
        self.sampler = sampler
        self.shapes = shapes
        self.size = size

    def __iter__(self):
        waiting = {}
        for index in self.sampler:
            group = waiting.setdefault(self.shapes[index], [])
            group.append(index)
            if len(group) == self.size:
                yield waiting.pop(self.shapes[index])

    def __len__(self):
        return len(self.sampler) // self.size


def train(model, data, epochs):
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_sampler=Grouped(sampler, data.shapes, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        batches = loader.batch_sampler
        if epoch > 0 and hasattr(batches, "set_epoch"):
            batches.set_epoch(epoch)
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    train(torch.nn.Linear(4, 4), torch.load("data.pt"), 10)
