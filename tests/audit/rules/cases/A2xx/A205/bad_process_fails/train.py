"""A rank that ends with a failure: the launcher ends the others, if it is one that does."""

import math
import sys

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader):
    model = DDP(net)
    for batch in loader:
        loss = model(batch).mean()
        loss_value = loss.item()
        if not math.isfinite(loss_value):
            print("stopping")
            sys.exit(1)
        loss.backward()
        dist.all_reduce(loss)
