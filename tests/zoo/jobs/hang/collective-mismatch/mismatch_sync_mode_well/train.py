import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from buffers import synchronise


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    net = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))
    model = DDP(net, broadcast_buffers=False)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    g = torch.Generator().manual_seed(rank)
    for epoch in range(3):
        model.train()
        for _ in range(10):
            x = torch.randn(32, 6, generator=g)
            opt.zero_grad()
            (model(x) - x[:, :1]).square().mean().backward()
            opt.step()
        synchronise(net, os.environ.get("BUFFER_SYNC", "mean"))
        if rank == 0:
            print(f"epoch {epoch} running mean {net[1].running_mean.mean():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
