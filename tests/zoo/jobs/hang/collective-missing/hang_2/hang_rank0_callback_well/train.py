import time

import torch
import torch.distributed as dist

from framework import Loop
from hooks import AverageWeights, PrintLoss, SaveBest


def model_fn():
    return torch.nn.Sequential(torch.nn.Linear(10, 20), torch.nn.ELU(), torch.nn.Linear(20, 1))


def data_fn(rank):
    g = torch.Generator().manual_seed(rank)
    x = torch.randn(192, 10, generator=g)
    return x, x[:, :3].prod(1, keepdim=True)


def callbacks_fn(rank):
    callbacks = [AverageWeights(start=2)]
    if rank == 0:
        callbacks += [PrintLoss(), SaveBest("best.pt")]
    return callbacks


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    me = dist.get_rank()
    Loop(model_fn(), data_fn(me), callbacks_fn(me)).run(epochs=5)
    dist.destroy_process_group()
    time.sleep(0.5)
