import torch.distributed as dist


def halves(rank, world):
    if rank < world // 2:
        return dist.new_group(list(range(world // 2)))
    return None


def own(size):
    group = None
    for start in range(0, dist.get_world_size(), size):
        ranks = list(range(start, start + size))
        if dist.get_rank() in ranks:
            group = dist.new_group(ranks)
    return group
