import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def mean_of(values):
    if dist.get_rank() != 0:
        return None
    dist.all_reduce(values)
    return values


def train(net, loader, target):
    model = DDP(net)
    for batch in loader:
        loss = model(batch).mean()
        if torch.isnan(loss):
            continue
        loss.backward()
        if loss.item() < target:
            break
    if dist.get_rank() == 1:
        sys.exit(0)
    dist.barrier()


class Metric:
    def __init__(self):
        self.scores = []

    def update(self, score):
        self.scores.append(score)

    def compute(self):
        if not self.scores:
            return 0.0
        total = torch.tensor(self.scores).sum()
        dist.all_reduce(total)
        return total


def gather(x, group=None):
    parts = [torch.zeros_like(x) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, x, group=group)
    return parts


def spread(x, rank):
    if rank != 0:
        return None
    return gather(x)
