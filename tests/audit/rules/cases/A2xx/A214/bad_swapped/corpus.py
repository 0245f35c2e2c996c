import contextlib
import json
import os

import torch.distributed as dist


def build(source, target):
    with open(target, "w") as out:
        json.dump(source, out)


def prepare(source, target):
    rank = dist.get_rank()
    if rank == 0:
        dist.barrier()
    if not os.path.exists(target):
        build(source, target)
    if rank != 0:
        dist.barrier()


@contextlib.contextmanager
def first(local_rank):
    if local_rank == 0:
        dist.barrier()
    yield
    if local_rank != 0:
        dist.barrier()
