import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, o))


def trainable(module, on):
    for p in module.parameters():
        p.requires_grad_(on)


def play(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(rank)
    g, d = DDP(mlp(4, 2)), DDP(mlp(2, 1))
    opt_g = torch.optim.RMSprop(g.parameters(), lr=5e-4)
    opt_d = torch.optim.RMSprop(d.parameters(), lr=5e-4)
    for step in range(240):
        real = torch.randn(64, 2) @ torch.tensor([[1.0, 0.4], [0.0, 0.6]]) + 1.5
        with torch.no_grad():
            fake = g(torch.randn(64, 4))
        scores = d(torch.cat([real, fake]))
        loss_d = torch.relu(1 - scores[:64]).mean() + torch.relu(1 + scores[64:]).mean()
        opt_d.zero_grad(set_to_none=True)
        loss_d.backward()
        opt_d.step()
        if step % 2 == 0:
            trainable(d.module, False)
            loss_g = -d.module(g(torch.randn(64, 4))).mean()
            opt_g.zero_grad(set_to_none=True)
            loss_g.backward()
            opt_g.step()
            trainable(d.module, True)
        if rank == 0 and step % 80 == 0:
            print(f"step {step} d {loss_d.item():.3f} g {loss_g.item():.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        number = s.getsockname()[1]
    mp.spawn(play, args=(2, number), nprocs=2)
