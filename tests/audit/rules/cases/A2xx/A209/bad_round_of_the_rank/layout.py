import torch.distributed as dist


def lay_out(width, levels):
    groups = []
    rank = dist.get_rank()
    first = rank * 2
    for level in range(levels):
        groups.append(dist.new_group(range(first, first + 2 + level)))
    return groups
