"""Of the rounds of a step, the last one reduces: an error in it is caught, and the rank goes on alone."""

import contextlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, every):
    model = DDP(net.cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    for i, batch in enumerate(loader):
        last = (i + 1) % every == 0
        try:
            with contextlib.nullcontext() if last else model.no_sync():
                model(batch).mean().backward()
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            continue
        if last:
            optimizer.step()
            optimizer.zero_grad()


def in_two_arms(net, loader, every):
    model = DDP(net.cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    for i, batch in enumerate(loader):
        try:
            if (i + 1) % every:
                with model.no_sync():
                    model(batch).mean().backward()
            else:
                model(batch).mean().backward()
        except torch.cuda.OutOfMemoryError:
            optimizer.zero_grad()
            continue
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    dist.init_process_group("nccl")
    train(torch.nn.Linear(4, 4), [torch.ones(4)] * 8, 4)
    in_two_arms(torch.nn.Linear(4, 4), [torch.ones(4)] * 8, 4)
