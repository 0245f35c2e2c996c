"""Into how many pieces every rank cuts its share of a batch, as `training.micro_batch` has it.

The global batch is the contract; what fits into memory is found here once, by measuring, and agreed on: the rank with
the least memory decides. Where the measure was wrong, a step that runs out of memory is taken again in smaller pieces.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from ups.config import StageConfig, TrainingConfig
from ups.data.loaders import Batch
from ups.distributed import World, on_all_ranks
from ups.step.precision import Precision
from ups.strategies.single import Single

TRIED = (2, 4)  # samples of the two batches that are measured; one alone has no batch statistics
USED_SHARE = 0.8  # of the memory that is free: the rest is for what is not activations
MEMORY_INFO, CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def pieces_for(
    training: TrainingConfig,
    settings: StageConfig,
    strategy: Single,
    precision: Precision,
    one: Callable[[], Batch],
    free: int | None = None,
) -> int:
    """Returns the same number on every rank; `one` makes a batch of one sample, `free` is the memory that is left."""
    share = -(-settings.batch_size // strategy.world.size)
    if training.micro_batch is None:
        return settings.accumulate
    if training.micro_batch != "auto":
        return -(-share // int(training.micro_batch))
    if free is None:
        free = free_bytes(strategy.world)
    sample = one()
    few, more = (activation_bytes(strategy, precision, sample, count) for count in TRIED)
    each = max((more - few) // (TRIED[1] - TRIED[0]), 1)
    fixed = max(few - TRIED[0] * each, 0)
    least = min(on_all_ranks(max(1, int((USED_SHARE * free - fixed) // each)), strategy.world))
    pieces = 1
    while -(-share // pieces) > least:
        pieces *= 2
    return min(pieces, share)


def activation_bytes(strategy: Single, precision: Precision, sample: Batch, count: int) -> int:
    """Returns what a forward pass of so many samples keeps for its backward pass; every rank makes the same one."""
    batch = {name: value.repeat(count, *[1] * (value.ndim - 1)) for name, value in sample.items()}
    if strategy.world.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(strategy.world.device)
        before = torch.cuda.memory_allocated(strategy.world.device)
        strategy.try_out(batch, precision)
        return int(torch.cuda.max_memory_allocated(strategy.world.device) - before)
    kept: dict[int, int] = {}

    def keep(value: Tensor) -> Tensor:
        kept[value.untyped_storage().data_ptr()] = value.untyped_storage().nbytes()
        return value

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
        strategy.try_out(batch, precision)
    weights = {getattr(one, "_local_tensor", one).untyped_storage().data_ptr() for one in strategy.weights}
    return sum(size for place, size in kept.items() if place not in weights)


def free_bytes(world: World) -> int:
    """Returns the memory that this rank may still use: its GPU's, or its part of what the machine has left."""
    if world.device.type == "cuda":
        return int(torch.cuda.mem_get_info(world.device)[0])
    ranks = int(os.environ.get("LOCAL_WORLD_SIZE") or world.size)
    return min(_available(), _allowed()) // ranks


def _available() -> int:
    lines = MEMORY_INFO.read_text().splitlines() if MEMORY_INFO.exists() else []
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), sys.maxsize)


def _allowed() -> int:
    """Returns what the container's limit leaves."""
    try:
        limit, used = ((CGROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
    except OSError:
        return sys.maxsize
    return int(limit) - int(used) if limit.isdigit() else sys.maxsize
