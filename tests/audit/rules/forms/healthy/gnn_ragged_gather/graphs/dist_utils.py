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
    count = torch.tensor([tensor.size(0)], device=tensor.device)
    counts = [torch.empty_like(count) for _ in range(n)]
    dist.all_gather(counts, count)
    sizes = [int(c) for c in counts]
    room = tensor.new_zeros((max(sizes), *tensor.shape[1:]))
    room[: tensor.size(0)] = tensor
    parts = [torch.empty_like(room) for _ in range(n)]
    dist.all_gather(parts, room)
    return torch.cat([p[:s] for p, s in zip(parts, sizes)])
