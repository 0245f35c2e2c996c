import time

import torch
import torch.distributed as dist


def train(model, loader, best, every):
    began = time.monotonic()
    for step, batch in enumerate(loader):
        loss = model(batch).mean()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        if mean.item() < best:
            dist.barrier()
        if step % every == 0:
            dist.barrier()
        due = torch.tensor(float(time.monotonic() - began > 60))
        dist.broadcast(due, src=0)
        if due.item():
            dist.barrier()
        if loss.item() > 100:
            print("large", loss.item())
