"""Rendezvous, then one all_reduce of the ranks' numbers: the smallest job that uses every part of the way."""

import time

from .group import process_group


def run(rank, world_size, arguments):
    """Returns init_seconds, first_all_reduce_seconds, and got / expected of the sum."""
    import torch
    import torch.distributed as dist

    with process_group(arguments) as (device, init_seconds):
        started = time.monotonic()
        numbers = torch.full((8,), float(rank + 1), device=device)
        dist.all_reduce(numbers)
        got = numbers[0].item()  # waits for the GPU
        seconds = time.monotonic() - started
    return {
        "init_seconds": init_seconds,
        "first_all_reduce_seconds": seconds,
        "got": got,
        "expected": world_size * (world_size + 1) / 2,
    }
