import json

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from data import dealt, filled


def agreed(model, optimizer, loader):
    batches = iter(loader)
    while True:
        batch = next(batches, None)
        left = torch.tensor([int(batch is not None)], device="cuda")
        dist.all_reduce(left, op=dist.ReduceOp.MIN)
        if not left.item():
            break
        model(batch).backward()
        optimizer.step()


def joined(model, optimizer, loader):
    with model.join():
        for batch in loader:
            model(batch).backward()
            optimizer.step()


def whole(model, optimizer, loader):
    for batch in loader:
        model(batch).backward()
        optimizer.step()


def measured(model, loader):
    total = torch.zeros(1, device="cuda")
    with torch.no_grad():
        for batch in loader:
            total += model.module(batch)
    dist.all_reduce(total)
    return total


def main():
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DDP(nn.Linear(8, 1).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with open("cuts.json") as lines:
        rows = [json.loads(one) for one in lines]
    agreed(model, optimizer, filled(rows, rank, world))
    joined(model, optimizer, filled(rows, rank, world))
    whole(model, optimizer, dealt(rows, rank, world))
    measured(model, filled(rows, rank, world))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
