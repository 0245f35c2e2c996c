"""Weights of replicas that differ though the gradients are the same: they were not equal when that began. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.replicas import Replicas, differ, equal, replicas


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentWeights:
    """Parameters that differ under gradients that are equal on all ranks."""

    found: Replicas
    tensors: tuple[int, ...]
    step: int  # the first before which the first of them differed

    @property
    def from_the_start(self) -> bool:
        """Whether they differed before the first step."""
        return self.step == self.found.steps[0]

    @property
    def odd(self) -> tuple[int, ...]:
        """The ranks that differ from most."""
        return self.found.odd_ranks(self.step, self.tensors[0])


def different_weights(job: Job) -> DifferentWeights | None:
    """Returns the first group of ranks that share their gradients and not their weights."""
    for found in replicas(job):
        last = found.steps[-1]  # other processors round otherwise: that drift is no fault of the program
        apart = tuple(
            index for index in found.tensors if found.stays_apart(index) and differ(found.values(last, index))
        )
        if apart and _share_gradients(found, apart):
            step = found.first_difference(apart[0])
            if step is not None:
                return DifferentWeights(found=found, tensors=apart, step=step)
    return None


def _share_gradients(found: Replicas, apart: tuple[int, ...]) -> bool:
    """Whether all gradients were equal at every step, and those of what differs were not zero in the last one.

    Other data give other gradients: equal ones were exchanged. Shards of one layer have gradients of their own.
    """
    last = found.steps[-1]
    whole = [index for index in range(len(found.model.names)) if not found.model.sharded[index]]
    for step in found.steps:
        told = [found.gradients(step, index) for index in whole]
        if not all(equal(prints) and len({one.why for one in prints.values()}) == 1 for prints in told):
            return False
    telling = [one for index in apart for one in found.gradients(last, index).values()]
    return any(one.read and not one.is_zero for one in telling)
