import itertools

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def train(net, dataset, epochs):
    model = DDP(net)
    sampler = DistributedSampler(dataset)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in DataLoader(dataset, batch_size=8, sampler=sampler):
            model(batch).mean().backward()


def joined(net, batches):
    model = DDP(net)
    with model.join():
        for batch in batches[dist.get_rank()]:
            model(batch).mean().backward()


def agreed(net, rows):
    model = DDP(net)
    steps = torch.tensor(len(rows))
    dist.all_reduce(steps, op=dist.ReduceOp.MIN)
    for row in itertools.islice(rows, int(steps)):
        model(row).mean().backward()


def read(rank):
    with open(f"names-{rank}.txt") as file:
        for line in file:
            print(line)
