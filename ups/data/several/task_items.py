"""The items of several problems as one dataset: those of the first, then those of the second, and so on."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.data import Dataset, default_collate

from ups.data.sampler import GlobalBatchSampler
from ups.data.several.task_sampler import BalancedSampler, SweepSampler


class TaskItems(Dataset[dict[str, Any]]):
    """Batches say in "task", (B,), of which problem each item is; items of one batch must be of one shape."""

    def __init__(self, parts: Sequence[Any], shares: Sequence[float], *, mixed: bool) -> None:
        self.parts, self.shares, self.mixed = list(parts), list(shares), mixed
        self.sizes = [len(one) for one in parts]
        self._ends = list(itertools.accumulate(self.sizes))

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, index: int) -> dict[str, Any]:
        which, inner = self._place(index)
        return {**self.parts[which][inner], "task": which}

    def batch(self, indices: Sequence[int]) -> dict[str, torch.Tensor]:
        """Returns the items stacked."""
        places = [self._place(index) for index in indices]
        first = places[0][0]
        whole = getattr(self.parts[first], "batch", None)
        if whole is not None and all(which == first for which, _ in places):
            stacked: dict[str, torch.Tensor] = whole([inner for _, inner in places])
        else:
            stacked = default_collate([self.parts[which][inner] for which, inner in places])
        return {**stacked, "task": torch.tensor([which for which, _ in places])}

    def _place(self, index: int) -> tuple[int, int]:
        which = bisect.bisect_right(self._ends, index)
        return which, index - (self._ends[which] - self.sizes[which])


def sampler_for(
    dataset: Any, global_batch: int, rank: int, world_size: int, seed: int, *, shuffle: bool
) -> GlobalBatchSampler:
    """Returns the sampler of a stage's dataset: to train on (`shuffle`), or to go through once."""
    if not isinstance(dataset, TaskItems):
        return GlobalBatchSampler(len(dataset), global_batch, rank, world_size, seed, shuffle)
    if not shuffle:
        return SweepSampler(dataset.sizes, global_batch, rank, world_size, seed)
    return BalancedSampler(dataset.sizes, dataset.shares, global_batch, rank, world_size, seed, mixed=dataset.mixed)
