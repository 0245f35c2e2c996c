"""Federated averaging, one client a process; clients own unequal numbers of samples."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from client import Client

ROUNDS = 8
SAMPLES = [48, 80, 64]


def make_model():
    return nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 6))


@torch.no_grad()
def aggregate(global_model, local_model, weight):
    for g, l in zip(global_model.parameters(), local_model.parameters()):
        total = l * weight
        dist.all_reduce(total)
        g.copy_(total)


def run(rank, world_size, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    torch.manual_seed(77)
    global_model = make_model()
    client = Client(rank, SAMPLES[rank])
    test = Client(0, 60), Client(1, 60), Client(2, 60)
    for r in range(ROUNDS):
        local_model, loss, steps = client.update(global_model, local_epochs=1)
        aggregate(global_model, local_model, len(client) / sum(SAMPLES))
        if r % 2 == 1:
            with torch.no_grad():
                acc = sum((global_model(t.x).argmax(1) == t.y).float().mean().item() for t in test) / 3
            print(f"round {r + 1} client {rank}: {steps} local steps, loss {loss:.3f}, global acc {acc:.2f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(3, 29655), nprocs=3, join=True)
