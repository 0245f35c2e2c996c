from contextlib import contextmanager

import torch.distributed as dist


@contextmanager
def first(rank=0):
    me = dist.get_rank()
    if me != rank:
        dist.barrier()
    yield me == rank
    if me == rank:
        dist.barrier()
