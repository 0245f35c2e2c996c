"""Which ranks trained a model of the same names and shapes, and where their parameters and gradients differ. Pure.

Whether they should be equal is another question: shards of one layer have equal names and shapes, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.parameter_prints import Look, OptimizedModel, TensorPrint, WrapperFacts

# Two ranks add in another order at most: a relative difference above it has another cause.
ROUNDING = 1e-3


@dataclass(frozen=True)  # not slots: cached properties
class Replicas:
    """Ranks whose optimizer of this number holds parameters of the same names and shapes."""

    processes: tuple[JobProcess, ...]
    optimizer: int
    looks: Mapping[int, Mapping[int, Look]]  # by step and rank: steps that all of them were looked at before

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Their ranks, sorted."""
        return tuple(process.rank for process in self.processes if process.rank is not None)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The steps that were looked at, in order."""
        return tuple(sorted(self.looks))

    @cached_property
    def model(self) -> OptimizedModel:
        """As its first rank had it last."""
        return self.last(self.ranks[0]).model

    @cached_property
    def tensors(self) -> tuple[int, ...]:
        """The indices of those that every rank could read at each look."""
        looks = [look for by_rank in self.looks.values() for look in by_rank.values()]
        return tuple(
            index
            for index in range(len(self.model.names))
            if not self.model.sharded[index] and all(look.values[index].read for look in looks)
        )

    def last(self, rank: int) -> Look:
        """The latest look at one rank."""
        return self.looks[self.steps[-1]][rank]

    def values(self, step: int, index: int) -> Mapping[int, TensorPrint]:
        """A parameter before a step, by rank."""
        return {rank: look.values[index] for rank, look in self.looks[step].items()}

    def gradients(self, step: int, index: int) -> Mapping[int, TensorPrint]:
        """Its gradient, by rank."""
        return {rank: look.gradients[index] for rank, look in self.looks[step].items()}

    def first_difference(self, index: int) -> int | None:
        """The first step before which this parameter differed between ranks."""
        return next((step for step in self.steps if not equal(self.values(step, index))), None)

    def stays_apart(self, index: int) -> bool:
        """Whether it differs before the last step that was looked at, and never was equal again in between."""
        first = self.first_difference(index)
        return first is not None and all(not equal(self.values(step, index)) for step in self.steps if step >= first)

    def unshared_gradient(self, index: int) -> int | None:
        """The first step at which the ranks had gradients that differ by more than rounding."""
        return next((step for step in self.steps if differ(self.gradients(step, index))), None)

    def drifts(self, index: int) -> bool:
        """Whether its gradients differ, and the parameter with them, from then on."""
        step = self.unshared_gradient(index)
        if step is None or not self.stays_apart(index):
            return False
        apart = self.first_difference(index)  # at the last look both are seen to differ, or the gradients alone
        return step < self.steps[-1] or (apart is not None and apart <= step)

    def wrapper_of(self, index: int) -> WrapperFacts | None:
        """The DistributedDataParallel that holds a parameter on the first rank, at the last look; None for none."""
        number = abs(self.model.wrapper[index])
        wrappers = self.last(self.ranks[0]).wrappers
        return wrappers[number - 1] if 0 < number <= len(wrappers) else None

    def odd_ranks(self, step: int, index: int) -> tuple[int, ...]:
        """The ranks that differ from most of the others; () where no majority says so."""
        values = {rank: one.checksum for rank, one in self.values(step, index).items()}
        (common, count), *_ = Counter(values.values()).most_common(1)
        return tuple(rank for rank, one in values.items() if one != common) if 2 * count > len(values) else ()


def equal(prints: Mapping[int, TensorPrint]) -> bool:
    """Whether all samples are the same."""
    return len({one.checksum for one in prints.values()}) <= 1


def differ(prints: Mapping[int, TensorPrint]) -> bool:
    """Whether samples that can be compared differ by more than rounding."""
    if not all(one.read and one.is_finite and one.size is not None for one in prints.values()):
        return False
    first, *others = prints.values()
    return any(_differ(first, other) for other in others)


def _differ(one: TensorPrint, other: TensorPrint) -> bool:
    if one.checksum == other.checksum:
        return False
    size = max(one.size or 0.0, other.size or 0.0)
    apart = max(abs((one.size or 0.0) - (other.size or 0.0)), abs((one.first or 0.0) - (other.first or 0.0)))
    return apart > ROUNDING * size


def replicas(job: Job) -> tuple[Replicas, ...]:
    """Returns the groups of two ranks or more that can be compared."""
    return tuple(found for group in _groups(job) if (found := _compared(*group)) is not None)


def _groups(job: Job) -> Iterator[tuple[int, list[JobProcess]]]:
    groups: dict[tuple[object, ...], tuple[int, list[JobProcess]]] = {}
    for process in job.ranks:
        last = {look.model.optimizer: look for look in process.prints.looks if look.world_size > 1}
        for optimizer, look in last.items():
            model = look.model
            peers = tuple(wrapper.ranks for wrapper in look.wrappers)
            key = (optimizer, model.class_name, model.names, model.shapes, look.world_size, peers)
            groups.setdefault(key, (optimizer, []))[1].append(process)
    yield from (group for group in groups.values() if len(group[1]) > 1)


def _compared(optimizer: int, processes: Sequence[JobProcess]) -> Replicas | None:
    by_rank = {
        process.rank: {look.step: look for look in process.prints.of_optimizer(optimizer)}
        for process in processes
        if process.rank is not None
    }
    steps = set.intersection(*(set(looks) for looks in by_rank.values()))
    if not steps:
        return None
    looks = {step: {rank: found[step] for rank, found in by_rank.items()} for step in steps}
    return Replicas(tuple(processes), optimizer, looks)
