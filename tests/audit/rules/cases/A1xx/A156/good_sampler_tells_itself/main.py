import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, Sampler


class Budget(Sampler):
    def __init__(self, inner):
        self.inner = inner
        self.epoch = 0

    def __iter__(self):
        self.inner.set_epoch(self.epoch)
        self.epoch += 1
        for one in self.inner:
            yield [one]


def main():
    dist.init_process_group("gloo")
    data = torch.ones(64, 4)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
    loader = DataLoader(data, batch_sampler=Budget(DistributedSampler(data)))
    for epoch in range(10):
        for batch in loader:
            model(batch).sum().backward()


if __name__ == "__main__":
    main()
