import os

import torch
import torch.distributed as dist
from torch.distributed import barrier as wait

RANK = int(os.environ["RANK"])


def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0


def direct(model):
    if dist.get_rank() == 0:
        dist.barrier()
        torch.save(model.state_dict(), "model.pt")


def by_helper(stats):
    if is_main():
        dist.all_reduce(stats)


def others(x):
    if RANK != 0:
        print("helping")
        wait()
    return x


def as_expression(x):
    return dist.broadcast(x, src=0) if RANK == 0 else None


class Trainer:
    def __init__(self):
        self.rank = dist.get_rank()
        self.chief = self.rank == 0

    @property
    def writes(self):
        return self.rank == 0

    def report(self, loss, step):
        if self.writes and step % 10 == 0:
            dist.all_reduce(loss)
        if self.chief:
            dist.barrier()

    def last_rank(self, x):
        if self.rank == dist.get_world_size() - 1:
            dist.all_gather_object([None], x)
