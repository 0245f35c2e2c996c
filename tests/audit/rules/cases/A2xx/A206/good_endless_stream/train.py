"""Streams of a rank's own files that go on for ever: the steps are counted, and are the same on every rank."""

import itertools
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset

from net import Net, read


class Stream(IterableDataset):
    def __init__(self, files):
        self.files = files
        self.rank = int(os.environ.get("RANK", 0))
        self.world = int(os.environ.get("WORLD_SIZE", 1))

    def __iter__(self):
        while True:
            for name in self.files[self.rank :: self.world]:
                for line in read(name):
                    if len(line) < 3:
                        break
                    yield line


class Cycled(IterableDataset):
    def __init__(self, files):
        self.own = files[dist.get_rank() :: dist.get_world_size()]

    def __iter__(self):
        for name in itertools.cycle(self.own):
            yield read(name)


def endless(files):
    while 1:
        for name in files[dist.get_rank() :: dist.get_world_size()]:
            yield read(name)


def train(files, steps):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    for _, x in zip(range(steps), DataLoader(Stream(files), batch_size=8)):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
    for step, x in enumerate(DataLoader(Cycled(files), batch_size=8)):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
        if step == steps:
            break
    for _, x in zip(range(steps), endless(files)):
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()
