"""Tensors whose values were too large to keep: drawn anew, the same each time."""

import torch


def drawn(told, seed):
    """Returns a tensor of this shape, dtype and range."""
    generator = torch.Generator().manual_seed(seed)
    shape, dtype = told["shape"], getattr(torch, told["dtype"])
    if dtype.is_floating_point or dtype.is_complex:
        values = torch.randn(shape, generator=generator) * told.get("std", 0.02) + told.get("mean", 0.0)
        return values.to(dtype)
    low, high = int(told["low"]), int(told["high"])
    return torch.randint(low, high + 1, shape, generator=generator).to(dtype)
