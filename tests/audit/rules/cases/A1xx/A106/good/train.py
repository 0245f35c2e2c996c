import os
import time

import torch
import torch.distributed as dist


def synchronised(rank, path):
    if rank == 0:
        torch.save({}, path)
    dist.barrier()
    return torch.load(path)


def polled(rank, path):
    if rank == 0:
        torch.save({}, path)
    while not os.path.exists(path):
        time.sleep(0.1)
    return torch.load(path)


def own_file(rank, path):
    if rank == 0:
        torch.save({}, path)
        print(torch.load(path))


def another_file(rank, path):
    if rank == 0:
        torch.save({}, path)
    path = "base.pt"
    return torch.load(path)


def collective_between(rank, path, loss):
    if rank == 0:
        torch.save({}, path)
    dist.all_reduce(loss)
    return torch.load(path)


def everybody_writes(rank):
    path = f"part-{rank}.pt"
    torch.save({}, path)
    return torch.load(path)


def left_early(rank, path):
    if rank == 0:
        torch.save({}, path)
        return None
    return torch.load("other.pt")


def save_each_epoch(rank, path, epochs):
    start = torch.load(path)
    for epoch in range(epochs):
        if rank == 0:
            torch.save({"epoch": epoch}, path)
    return start


def waits_in_a_function(rank, path):
    if rank == 0:
        torch.save({}, path)
    meet()
    return torch.load(path)


def meet():
    dist.barrier()
