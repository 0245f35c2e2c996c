import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def step(model, optimizer, x, y):
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def sent(model, loader, optimizer):
    started = time.time()
    for x, y in loader:
        step(model, optimizer, x, y)
        stop = [False]
        if dist.get_rank() == 0:
            stop = [time.time() - started > 3600]
        dist.broadcast_object_list(stop, src=0)
        if stop[0]:
            break


def seen_by_all(model, loader, optimizer, last):
    stop = False
    for number, (x, y) in enumerate(loader):
        step(model, optimizer, x, y)
        if number >= last:
            if dist.get_rank() == 0:
                print("that was the last one")
            stop = True
        if stop:
            break


def one_rank_alone(rows):
    found = False
    if dist.get_rank() == 0:
        for row in rows:
            if row > 3:
                found = True
            if found:
                break
    dist.barrier()


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(model)
    sent(model, loader, optimizer)
    seen_by_all(model, loader, optimizer, 10)
    one_rank_alone([1, 2, 3, 4])
    dist.destroy_process_group()


if __name__ == "__main__":
    net = torch.nn.Linear(2, 2)
    main(net, torch.load("batches.pt"), torch.optim.SGD(net.parameters(), lr=0.1))
