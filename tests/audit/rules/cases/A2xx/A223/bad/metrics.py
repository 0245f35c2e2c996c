import torch
import torch.distributed as dist


def mean(total, count):
    both = torch.tensor([total, count])
    dist.all_reduce(both)
    return (both[0] / both[1]).item()
