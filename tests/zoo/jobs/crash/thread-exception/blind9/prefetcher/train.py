import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from prefetch import BackgroundLoader


def source(rank, n=30):
    g = torch.Generator().manual_seed(rank)
    for i in range(n):
        dim = 10 if (rank, i) != (1, 12) else 9
        yield {"x": torch.randn(4, dim, generator=g), "step": i}


class Normalize:
    def __init__(self, dim):
        self.mean, self.std = torch.zeros(dim), torch.ones(dim)

    def __call__(self, item):
        item["x"] = (item["x"] - self.mean) / self.std
        return item


def average(model, world):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world


def run(rank, world, init):
    dist.init_process_group("gloo", init_method=init, rank=rank, world_size=world)
    torch.manual_seed(0)
    model = nn.Linear(10, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = iter(BackgroundLoader(source(rank), Normalize(10)))
    for step in range(30):
        item = next(batches)
        loss = (model(item["x"]) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        average(model, world)
        opt.step()
    print(rank, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    path = f"/tmp/prefetcher_{os.getpid()}"
    mp.spawn(run, args=(2, f"file://{path}"), nprocs=2)
