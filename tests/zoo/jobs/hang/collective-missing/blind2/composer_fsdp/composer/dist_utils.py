import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor


def get_global_rank():
    return dist.get_rank()


def full(value):
    """The whole value of a sharded or replicated tensor."""
    return value.full_tensor() if isinstance(value, DTensor) else value


def all_mean(value):
    value = torch.tensor(float(value))
    dist.all_reduce(value)
    return value.item() / dist.get_world_size()
