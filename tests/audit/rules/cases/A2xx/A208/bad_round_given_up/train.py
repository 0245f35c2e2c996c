"""A rank whose samples cannot be used gives up the round, and the backward pass is further down in it."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from data import Cells, Net


class NothingToLearn(Exception):
    pass


def chosen(batch):
    valid = batch["mask"].any(1)
    if not valid.any():
        raise NothingToLearn
    return batch["x"][valid], batch["y"][valid]


class Prepare:
    def __call__(self, batch):
        if batch["length"].max() < 3:
            raise ValueError("all of them are too short")
        return batch["x"]


def set_up():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    data = Cells()
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data, drop_last=True), drop_last=True)
    return DDP(Net().cuda()), loader


def by_own_error():
    model, loader = set_up()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        try:
            x, y = chosen(batch)
        except NothingToLearn:
            continue
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def by_value_error():
    model, loader = set_up()
    optimizer, prepare, left_out = torch.optim.SGD(model.parameters(), lr=0.1), Prepare(), 0
    for batch in loader:
        try:
            x = prepare(batch)
        except (KeyError, ValueError) as error:
            left_out += 1
            print("left out", left_out, error)
            continue
        optimizer.zero_grad()
        model(x).mean().backward()
        optimizer.step()


def by_loss():
    model, loader = set_up()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        try:
            loss = model(batch["x"]).mean()
            if torch.isnan(loss):
                raise FloatingPointError("nan")
        except Exception as error:
            print(error)
            optimizer.zero_grad()
            continue
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


by_own_error()
by_value_error()
by_loss()
