import torch
import torch.distributed as dist
import torch.nn.functional as F


def gather_all_tensors(result, group=None):
    """Gather tensors of possibly different lengths from all processes."""
    result = result.contiguous()
    world_size = dist.get_world_size(group)
    local_size = torch.tensor(result.shape)
    all_sizes = [torch.zeros_like(local_size) for _ in range(world_size)]
    dist.all_gather(all_sizes, local_size, group=group)
    max_size = torch.stack(all_sizes).max(dim=0).values
    pad = []
    for val in reversed((max_size - local_size).tolist()):
        pad += [0, val]
    padded = F.pad(result, pad)
    gathered = [torch.zeros_like(padded) for _ in range(world_size)]
    dist.all_gather(gathered, padded, group=group)
    return [g[tuple(slice(int(s)) for s in size)] for g, size in zip(gathered, all_sizes)]
