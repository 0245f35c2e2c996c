import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from stopper import Stopper, agreed


def run(rank, world, init):
    dist.init_process_group("gloo", init_method=init, rank=rank, world_size=world)
    model = DDP(nn.Linear(5, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    stopper = Stopper(3)
    x = torch.randn(64, 5)
    for epoch in range(500):
        loss = (model(x) - x[:, :1]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        stop = False
        if rank == 0:
            val = (model.module(x) - x[:, :1]).pow(2).mean().item()
            stop = stopper(val)
        if agreed(stop):
            print(f"rank {rank} stops early at epoch {epoch} of 500", flush=True)
            dist.destroy_process_group()
            sys.exit(0)
    raise RuntimeError("never converged")


if __name__ == "__main__":
    mp.spawn(run, args=(3, f"file:///tmp/ok_early_stop_{os.getpid()}"), nprocs=3)
