"""Numbers that look random and are the same each time, without any generator: none is disturbed, compilers follow."""

import math

import torch

MASK = 0xFFFFFFFF


def noise(shape, told, dtype, device):
    """Returns a tensor of the recorded mean and deviation, within the recorded range."""
    if told["mean"] is None:
        return torch.zeros(shape, dtype=dtype, device=device)
    number = math.prod(shape) if hasattr(math, "prod") else int(torch.Size(shape).numel())
    mixed = torch.arange(1, number + 1, dtype=torch.int64, device=device) * 2654435761 & MASK
    mixed = ((mixed >> 15) ^ mixed) * 2246822519 & MASK
    uniform = ((mixed >> 13) ^ mixed).to(torch.float32) / MASK - 0.5  # deviation 1 / sqrt(12)
    spread = (uniform * (told["std"] * math.sqrt(12.0)) + told["mean"]).clamp(told["low"], told["high"])
    return spread.to(dtype).reshape(shape)


def tiled(stored, shape, device):
    """Returns recorded numbers in another shape: cut, or repeated from their start."""
    for dim, size in enumerate(shape):
        if stored.shape[dim] == size:
            continue
        if not stored.shape[dim]:
            return torch.zeros(shape, dtype=stored.dtype, device=device)
        stored = stored.index_select(dim, torch.arange(size) % stored.shape[dim])
    return stored.to(device)
