import contextlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Accumulator:
    def __init__(self, model: DistributedDataParallel, optimizer, every, clip=1.0):
        self.model, self.optimizer = model, optimizer
        self.every, self.clip = every, clip
        self.updates = 0

    def context(self, index):
        if (index + 1) % self.every != 0:
            return self.model.no_sync()
        return contextlib.nullcontext()

    def boundary(self, index):
        return (index + 1) % self.every == 0

    def micro(self, index, tokens, labels):
        with self.context(index):
            loss = self.model(tokens, labels) / self.every
            loss.backward()
        if self.boundary(index):
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            self.updates += 1
        return loss.detach() * self.every


def mean_over_ranks(value):
    value = value.clone()
    dist.all_reduce(value)
    return value / dist.get_world_size()
