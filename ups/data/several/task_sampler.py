"""Several problems in one epoch: which samples make each global batch, the same for any number of ranks.

Every problem has a stream of its own: permutation after permutation of its samples, without end, so that at any time
no sample of it was taken more than once oftener than another. An epoch takes from each stream as many as its share,
to the batch (or, mixed, to the sample); where in the stream an epoch begins follows from its number alone.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping, Sequence

import torch

from ups.config import UpsConfig
from ups.data.field_spec import FieldSpec
from ups.data.sampler import Entry, GlobalBatchSampler
from ups.data.several.problems import problems
from ups.data.splits import split_samples
from ups.errors import ConfigError


def shares(config: UpsConfig, sizes: Sequence[int]) -> list[float]:
    """Returns what part of the samples of an epoch each problem gets; they add up to 1."""
    balance = config.data.balance
    power = {"equal": 0.0, "size": 1.0, "temperature": 1 / balance.temperature}[balance.by]
    raw = [one.weight * size**power for one, size in zip(config.data.tasks, sizes, strict=True)]
    return [one / sum(raw) for one in raw]


def apportioned(total: int, parts: Sequence[float]) -> list[int]:
    """Returns whole numbers that add up to `total`, each within one of its part of it (largest remainders)."""
    exact = [total * part for part in parts]
    counts = [int(one) for one in exact]
    order = sorted(range(len(parts)), key=lambda which: (counts[which] - exact[which], which))
    for which in order[: total - sum(counts)]:
        counts[which] += 1
    return counts


class BalancedSampler(GlobalBatchSampler):
    """Yields this rank's share of each global batch; indices go through all problems' items one after the other."""

    def __init__(
        self,
        sizes: Sequence[int],
        parts: Sequence[float],
        global_batch: int,
        rank: int,
        world_size: int,
        seed: int,
        *,
        mixed: bool,
    ) -> None:
        """Raises ConfigError where an epoch has not a batch for each problem."""
        batches = -(-sum(sizes) // global_batch)
        super().__init__(batches * global_batch, global_batch, rank, world_size, seed, shuffle=True)
        self.sizes, self.mixed = list(sizes), mixed
        self._each = 1 if mixed else global_batch  # samples that follow each other and are of one problem
        self.counts = [self._each * one for one in apportioned(self.length // self._each, parts)]
        self._starts = list(itertools.accumulate(self.sizes, initial=0))
        if not all(self.counts):
            raise ConfigError(
                f"an epoch of {batches} batches has none for problem {self.counts.index(0) + 1} of {len(sizes)}",
                hint="lower batch_size, raise its weight, or data.balance.by=equal",
            )

    def order(self, epoch: int) -> list[int]:
        """See GlobalBatchSampler."""
        turns = [which for which, count in enumerate(self.counts) for _ in range(count // self._each)]
        shuffled = torch.randperm(len(turns), generator=_generator(self.seed, "turns", epoch)).tolist()
        streams = [self._stream(which, epoch) for which in range(len(self.sizes))]
        return [next(streams[turns[turn]]) for turn in shuffled for _ in range(self._each)]

    def _stream(self, which: int, epoch: int) -> Iterator[int]:
        size, start = self.sizes[which], self._starts[which]
        round_, first = divmod(epoch * self.counts[which], size)
        while True:
            generator = _generator(self.seed, f"problem {which}", round_)
            for index in torch.randperm(size, generator=generator).tolist()[first:]:
                yield start + index
            round_, first = round_ + 1, 0


class SweepSampler(GlobalBatchSampler):
    """Goes through all items of one problem after the other once: the last batch of each may be ragged."""

    def __init__(self, sizes: Sequence[int], global_batch: int, rank: int, world_size: int, seed: int) -> None:
        super().__init__(sum(sizes), global_batch, rank, world_size, seed, shuffle=False)
        starts = itertools.accumulate(sizes, initial=0)
        self._batches = [
            range(start + first, start + min(first + global_batch, size))
            for start, size in zip(starts, sizes, strict=False)
            for first in range(0, size, global_batch)
        ]

    def __len__(self) -> int:
        return len(self._batches)

    def count(self, batch: int) -> int:
        """See GlobalBatchSampler."""
        return len(self._batches[batch])

    def __iter__(self) -> Iterator[list[Entry]]:
        for batch in self._batches[self.first_batch :]:
            yield [(index, 1.0) for index in batch[self.rank :: self.world_size]] or [(batch[0], 0.0)]


def check_together(config: UpsConfig, specs: Mapping[str, FieldSpec]) -> None:
    """Raises ConfigError where batches are to be mixed of problems whose fields have not one shape."""
    if config.data.balance.batches != "mixed":
        return
    shapes = {
        task: f"{spec.kind} fields of {' x '.join(map(str, (*spec.grid, spec.channels)))}"
        for task, spec in specs.items()
    }
    first, *others = shapes
    other = next((one for one in others if shapes[one] != shapes[first]), None)
    if other is not None:
        raise ConfigError(
            f"data.balance.batches=mixed needs one shape: {first} has {shapes[first]}, {other} {shapes[other]}",
            hint="data.balance.batches=one",
        )


def check_epochs(config: UpsConfig, specs: Mapping[str, FieldSpec], stages: Sequence[str]) -> None:
    """Raises ConfigError where an epoch of a stage would have not a batch for each problem."""
    for name in stages:
        sizes = []
        for task, one in problems(config).items():
            spec = specs[task]
            each = spec.frames * len(spec.fields) if name == "autoencoder" else max(1, spec.frames - 1)
            sizes.append(len(split_samples(spec.samples, one.data).train) * each)
        batch, mixed = getattr(config.stages, name).batch_size, config.data.balance.batches == "mixed"
        BalancedSampler(sizes, shares(config, sizes), batch, 0, 1, config.seed, mixed=mixed)


def _generator(seed: int, what: str, number: int) -> torch.Generator:
    digest = hashlib.sha256(f"{seed} {what} {number}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)
