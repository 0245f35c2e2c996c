import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def lines(rank):
    with open(f"shard-{rank}.txt") as file:
        for line in file:
            yield line


def train(net, rank):
    model = DDP(net)
    for line in lines(rank):
        model(torch.tensor([len(line)])).mean().backward()


def sizes(net, x):
    model = DDP(net)
    for part in x[: [160, 96][dist.get_rank()]]:
        model(part).mean().backward()


def budget(net, x, seconds):
    model = DDP(net)
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        model(x).mean().backward()
