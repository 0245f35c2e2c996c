import functools
import torch.distributed as dist


def mean(value, group=None):
    dist.all_reduce(value, group=group)
    return value / dist.get_world_size(group)


average = functools.partial(mean, group=None)
