import torch
import torch.distributed as dist


def world_size():
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank():
    return dist.get_rank() if world_size() > 1 else 0


def concat_all(tensor):
    n = world_size()
    if n == 1:
        return tensor
    tensor = tensor.contiguous()
    parts = [torch.empty_like(tensor) for _ in range(n)]  # cause
    dist.all_gather(parts, tensor)  # cause
    return torch.cat(parts)
