"""Buffers that are constants of a model and differ between ranks which share the model's gradients. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.replicas import Replicas, differ, equal, replicas
from diagnostics.record.parameter_prints import TensorPrint

LIKE = 2.0  # times the root mean square: as near as those of a few random numbers are
ENOUGH = 10  # steps: one that stood still for so long is a constant


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentBuffers:
    """Ranks whose gradients are equal at each look, and constants of their models are not."""

    found: Replicas
    buffers: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.found.model.buffers[index][0] for index in self.buffers)

    @property
    def values(self) -> Mapping[int, TensorPrint]:
        """The first of them, by rank."""
        return _by_rank(self.found, self.found.steps[-1], self.buffers[0])


def different_buffers(job: Job) -> DifferentBuffers | None:
    """Returns the first group of ranks with such buffers."""
    for found in replicas(job):
        apart = tuple(_apart(found)) if found.steps[-1] - found.steps[0] >= ENOUGH else ()
        if apart and shares_gradients(found):
            return DifferentBuffers(found=found, buffers=apart)
    return None


def shares_gradients(found: Replicas) -> bool:
    """Whether all gradients were equal on the ranks at every step, and some of them were read and not zero.

    Other data give other gradients: equal ones were exchanged. Shards of one layer have gradients of their own.
    """
    told = [found.gradients(step, index) for step in found.steps for index in range(len(found.model.names))]
    if not all(equal(prints) and len({one.why for one in prints.values()}) == 1 for prints in told):
        return False
    return any(one.read and not one.is_zero for prints in told for one in prints.values())


def _apart(found: Replicas) -> Iterator[int]:
    names = {look.model.buffers for by_rank in found.looks.values() for look in by_rank.values()}
    if len(names) != 1:
        return
    for index in range(len(found.model.buffers)):
        by_step = [_by_rank(found, step, index) for step in found.steps]
        first, last = by_step[0], by_step[-1]
        stands = all(one.read and one.checksum == first[rank].checksum for by in by_step for rank, one in by.items())
        if stands and differ(last) and _are_of_one_law(last):
            yield index


def _are_of_one_law(prints: Mapping[int, TensorPrint]) -> bool:
    """Whether they may be draws from one distribution: parts of a grid or of positions are of other sizes."""
    sizes = [one.size for one in prints.values() if one.size is not None]
    return len(sizes) == len(prints) and 0 < max(sizes) <= LIKE * min(sizes)


def _by_rank(found: Replicas, step: int, index: int) -> Mapping[int, TensorPrint]:
    return {rank: look.buffers[index] for rank, look in found.looks[step].items()}
