"""Rounds that all ranks give up together, that none does, or in which nobody meets behind the attempt."""

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


def of_schedule(step, steps):
    if step > steps:
        raise NothingToLearn
    return step / steps


def set_up():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    data = Cells()
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data, drop_last=True), drop_last=True)
    return DDP(Net().cuda()), loader


def agreed():
    model, loader = set_up()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        try:
            x, y = chosen(batch)
            usable = torch.ones(1).cuda()
        except NothingToLearn:
            usable = torch.zeros(1).cuda()
        dist.all_reduce(usable, op=dist.ReduceOp.MIN)
        if not usable.item():
            continue
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


def with_zero_loss():
    model, loader = set_up()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        try:
            x, y = chosen(batch)
            weight = 1.0
        except NothingToLearn:
            x, y, weight = batch["x"], batch["y"], 0.0
        (weight * torch.nn.functional.cross_entropy(model(x), y)).backward()
        optimizer.step()
        optimizer.zero_grad()


def alike(steps):
    model, loader = set_up()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, batch in enumerate(loader):
        try:
            rate = of_schedule(step, steps)
        except NothingToLearn:
            continue
        (rate * model(batch["x"]).mean()).backward()
        optimizer.step()
        optimizer.zero_grad()


def evaluated(model, loader):
    right = 0
    with torch.no_grad():
        for batch in loader:
            try:
                x, y = chosen(batch)
            except NothingToLearn:
                continue
            right += (model.module(x).argmax(1) == y).sum().item()
    return right


def ended():
    model, loader = set_up()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        try:
            x, y = chosen(batch)
        except NothingToLearn as error:
            raise SystemExit("the data are wrong") from error
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
    print(evaluated(model, loader))


agreed()
with_zero_loss()
alike(100)
ended()
