import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

class Meter:
    def __init__(self, distributed=False):
        self.distributed = distributed
        self.total = torch.zeros(1)

    def add(self, n):
        self.total += n

    def compute(self):
        if self.distributed:
            dist.all_reduce(self.total)
        return self.total.item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(4, 4))
    data = torch.utils.data.TensorDataset(torch.rand(10, 4), torch.rand(10))
    loader = DataLoader(data)
    if rank == 0:
        meter = Meter()
        for x, y in loader:
            meter.add((model.module(x) == y).sum())
        print(meter.compute())

    dist.destroy_process_group()


if __name__ == "__main__":
    main()
