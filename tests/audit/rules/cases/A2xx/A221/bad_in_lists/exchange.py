import torch
import torch.distributed as dist


def of_all_ranks(tensors):
    found = []
    for one in tensors:
        rows = [torch.empty_like(one) for _ in range(dist.get_world_size())]
        dist.all_gather(rows, one.contiguous())
        found += [torch.cat(rows)]
    return tuple(found)
