"""The sampler's epoch is drawn anew by each rank: they shuffle differently and share samples."""
import random

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def make_loader():
    x = torch.randn(1024, 8)
    data = TensorDataset(x, x.sum(1, keepdim=True))
    return DataLoader(data, batch_size=16, sampler=DistributedSampler(data, shuffle=True))


def main():
    dist.init_process_group("gloo")
    loader = make_loader()
    model = DDP(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(10):
        loader.sampler.set_epoch(random.randint(0, 10000))  # cause
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
