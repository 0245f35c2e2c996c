"""Collects tensors of different lengths from all ranks."""
import torch
import torch.distributed as dist


def gather_all_tensors(value):
    world = dist.get_world_size()
    size = torch.tensor(value.shape)
    sizes = [torch.zeros_like(size) for _ in range(world)]
    dist.all_gather(sizes, size)
    widest = torch.stack(sizes).max(dim=0).values.tolist()
    padded = value.new_zeros(widest)
    padded[tuple(slice(0, n) for n in value.shape)] = value
    parts = [torch.zeros_like(padded) for _ in range(world)]
    dist.all_gather(parts, padded)
    return [part[tuple(slice(0, n) for n in s.tolist())] for part, s in zip(parts, sizes)]
