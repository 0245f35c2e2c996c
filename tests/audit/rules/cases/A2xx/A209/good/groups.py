import torch.distributed as dist


def own(size):
    mine = None
    for start in range(0, dist.get_world_size(), size):
        ranks = list(range(start, start + size))
        group = dist.new_group(ranks)
        if dist.get_rank() in ranks:
            mine = group
    return mine


def both(rank, world):
    low = dist.new_group(list(range(world // 2)))
    high = dist.new_group(list(range(world // 2, world)))
    return low if rank < world // 2 else high
