import torch.distributed as dist


def sum_over_parts(tensor, group):
    if dist.get_world_size(group) > 1:
        dist.all_reduce(tensor, group=group)
