import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F

from comm import GradientBuckets


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    for p in net.parameters():
        dist.broadcast(p.data, 0)
    buckets = GradientBuckets(net.parameters())
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(100 + rank)
    for step in range(200):
        x = torch.randn(32, 16, generator=generator)
        y = torch.sin(x[:, :4].sum(dim=1, keepdim=True)) * x[:, 5:6]
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        buckets.average()
        optimizer.step()
        if step % 50 == 0 and rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    if rank == 0:
        torch.save(net.state_dict(), "/dev/null")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(3, free_port()), nprocs=3)
