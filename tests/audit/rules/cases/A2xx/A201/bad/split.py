import torch.distributed as dist


def halves():
    if dist.get_rank() == 0:
        return dist.split_group(None, [[0, 1], [2, 3]])
    return None
