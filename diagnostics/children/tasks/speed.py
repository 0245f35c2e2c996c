"""How long an all_reduce takes: a small one for latency, a large one for bandwidth."""

import time

from .group import process_group


def run(rank, world_size, arguments):
    """Returns {"small_s", "large_s"}: the least seconds of one all_reduce of `small_bytes` and `large_bytes`."""
    with process_group(arguments) as (device, _):
        small = fastest(arguments["small_bytes"], arguments["small_rounds"], device)
        large = fastest(arguments["large_bytes"], arguments["large_rounds"], device)
    return {"small_s": small, "large_s": large}


def fastest(size_bytes, rounds, device):
    """Returns the least seconds: on a busy machine the minimum repeats, medians do not."""
    import torch
    import torch.distributed as dist

    numbers = torch.zeros(max(1, size_bytes // 4), device=device)
    best = float("inf")
    for _ in range(rounds):
        wait_for(device)
        started = time.perf_counter()
        dist.all_reduce(numbers)
        wait_for(device)
        best = min(best, time.perf_counter() - started)
    return best


def wait_for(device):
    """Waits for what is queued on a GPU."""
    if device.type == "cuda":
        import torch

        torch.cuda.synchronize(device)
