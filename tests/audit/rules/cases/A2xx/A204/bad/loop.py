import random
import time

import torch.distributed as dist


def checkpoint(model):
    dist.barrier()


def train(model, loader, best):
    began = time.monotonic()
    for batch in loader:
        loss = model(batch).mean()
        if loss.item() < best:
            dist.barrier()
        if random.random() < 0.1:
            dist.all_reduce(loss)
        if time.monotonic() - began > 60:
            checkpoint(model)
