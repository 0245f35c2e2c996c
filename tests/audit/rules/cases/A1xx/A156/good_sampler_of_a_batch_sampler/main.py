import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, Sampler


class Budget(Sampler):
    def __init__(self, inner, size):
        self.inner = inner
        self.size = size

    def __iter__(self):
        batch = []
        for one in self.inner:
            batch.append(one)
            if len(batch) == self.size:
                yield batch
                batch = []


class Job:
    def __init__(self, data):
        self.model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4))
        self.loader = DataLoader(data, batch_sampler=Budget(DistributedSampler(data), 8))

    def begin(self, epoch):
        if hasattr(self.loader.batch_sampler.inner, "set_epoch"):
            self.loader.batch_sampler.inner.set_epoch(epoch)

    def run(self):
        for epoch in range(10):
            self.begin(epoch)
            for batch in self.loader:
                self.model(batch).sum().backward()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Job(torch.ones(64, 4)).run()
