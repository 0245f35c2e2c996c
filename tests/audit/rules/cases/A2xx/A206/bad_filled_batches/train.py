import json

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from data import chosen, filled


def drawn(model, optimizer, loader):
    batches = iter(loader)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            break
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def looped(model, optimizer, loader):
    for batch in loader:
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DDP(nn.Linear(8, 1).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with open("cuts.json") as lines:
        rows = [json.loads(one) for one in lines]
    for _ in range(3):
        drawn(model, optimizer, filled(rows, rank, world))
        looped(model, optimizer, chosen(rows, rank, world))
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
