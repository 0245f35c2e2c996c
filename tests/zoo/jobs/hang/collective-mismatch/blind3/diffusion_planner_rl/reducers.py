import torch.distributed as dist


def reduce_and_average_losses(losses):
    """Averages of every entry over the ranks."""
    world_size = dist.get_world_size()
    reduced = {}
    for key, value in losses.items():
        value = value.clone()
        dist.all_reduce(value)
        reduced[key] = value / world_size
    return reduced
