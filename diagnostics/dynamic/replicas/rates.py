"""Replicas whose learning rates part while they share their gradients: each step moves their weights apart. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.replicas import Replicas, differ, replicas

Rates = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentRates:
    """The learning rates of ranks that hold replicas, at the first look at which they differ."""

    found: Replicas
    step: int
    rates: Mapping[int, Rates]  # by rank

    @property
    def tensors(self) -> tuple[int, ...]:
        """The parameters that differ by now."""
        return tuple(index for index in self.found.tensors if self.found.stays_apart(index))


def different_rates(job: Job) -> DifferentRates | None:
    """Returns the first group of ranks that share gradients, began at one rate and have different ones to the last."""
    for found in replicas(job):
        apart = [step for step in found.steps if not _agree(_rates(found, step))]
        if not apart or apart[0] == found.steps[0] or apart != list(found.steps[-len(apart) :]):
            continue  # rates that differ from the start are a sweep; those that meet again are one step late
        told = DifferentRates(found=found, step=apart[0], rates=_rates(found, apart[0]))
        if (len(apart) > 1 or told.tensors) and _shared_until(found, apart[0]):
            return told
    return None


def _rates(found: Replicas, step: int) -> dict[int, Rates]:
    return {rank: look.rates for rank, look in found.looks[step].items()}


def _agree(rates: Mapping[int, Rates]) -> bool:
    first, *others = rates.values()
    return all(
        one is None or other is None or isclose(one, other, rel_tol=1e-6)
        for rank in others
        for one, other in zip(first, rank, strict=False)
    )


def _shared_until(found: Replicas, step: int) -> bool:
    """Whether the ranks were replicas until then: gradients that were exchanged, and weights that were the same."""
    before = [one for one in found.steps if one < step]
    read = [index for index in found.tensors if any(one.read for one in found.gradients(before[-1], index).values())]
    return bool(read) and not any(
        differ(found.values(one, index)) or differ(found.gradients(one, index)) for one in before for index in read
    )
