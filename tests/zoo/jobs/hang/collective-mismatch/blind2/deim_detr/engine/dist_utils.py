import torch
import torch.distributed as dist


def is_dist_available_and_initialized():
    return dist.is_available() and dist.is_initialized()


def get_world_size():
    return dist.get_world_size() if is_dist_available_and_initialized() else 1


def reduce_dict(data, avg=True):
    """Averages the values of a dictionary of scalars over all processes."""
    world_size = get_world_size()
    if world_size < 2:
        return data
    with torch.no_grad():
        keys, values = [], []
        for k in sorted(data.keys()):
            keys.append(k)
            values.append(data[k])
        values = torch.stack(values, dim=0)
        dist.all_reduce(values)
        if avg:
            values /= world_size
        return dict(zip(keys, values))
