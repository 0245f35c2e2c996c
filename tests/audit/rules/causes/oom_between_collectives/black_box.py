import torch
import torch.distributed as dist


def exchange(x):
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x)
    grown = torch.cat(parts).repeat(1, 4096)
    total = grown.sum(0)
    dist.all_reduce(total)
    return total
