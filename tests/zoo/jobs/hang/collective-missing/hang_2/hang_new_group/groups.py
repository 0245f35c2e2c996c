import torch.distributed as dist


def actor_group(rank, members):
    """The group of those who explore, None for the others."""
    if rank not in members:
        return None
    return dist.new_group(members)


def evaluation_group(rank):
    """Even and odd ranks evaluate on different episodes."""
    halves = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    return halves[rank % 2]
