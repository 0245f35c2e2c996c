import functools

import torch.distributed as dist
from elsewhere import on_rank_0
from pytorch_lightning.utilities import rank_zero_only


def rank0_only(function):
    @functools.wraps(function)
    def wrapped(*args):
        return function(*args) if dist.get_rank() == 0 else None

    return wrapped


@rank_zero_only
def by_a_library(state):
    dist.barrier()


@rank0_only
def by_the_project(state):
    dist.barrier()


@on_rank_0
def by_its_name(state):
    dist.barrier()
