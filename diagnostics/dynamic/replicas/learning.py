"""Optimizers that make steps and teach nothing: what the samples say, rank by rank. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.parameter_prints import Look

ENOUGH = 10  # steps: a warm-up may begin with a learning rate of 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """All looks at one optimizer of one rank; the last is at least ENOUGH steps after the first."""

    process: JobProcess
    looks: tuple[Look, ...]

    @property
    def last(self) -> Look:
        """The latest look."""
        return self.looks[-1]

    @property
    def had_gradients(self) -> bool:
        """Whether any parameter had a gradient in any look."""
        return any(one.why != "none" for look in self.looks for one in look.gradients)

    @property
    def read_gradients(self) -> tuple[int, ...]:
        """The parameters whose gradient could be read at each look."""
        return tuple(
            index for index in range(len(self.last.model.names)) if all(one.gradients[index].read for one in self.looks)
        )

    @property
    def unchanged(self) -> bool:
        """Whether no parameter that had a gradient to use changed between the first and the last look."""
        useful = [index for index in self.read_gradients if not self.looks[0].gradients[index].is_zero]
        return bool(useful) and all(
            look.values[index].read and look.values[index].checksum == self.looks[0].values[index].checksum
            for look in self.looks
            for index in useful
        )

    @property
    def gradients_zero(self) -> bool:
        """Whether every gradient was exactly zero at each look."""
        return bool(self.read_gradients) and all(
            one.is_zero for look in self.looks for one in look.gradients if one.why != "none"
        )

    @property
    def erased(self) -> bool:
        """Whether gradients that were there after the backward pass were none or zero at each step after the first."""
        later = self.looks[1:]  # before its first step an optimizer is not known
        gone = all(one.why == "none" or one.is_zero for look in later for one in look.gradients)
        return bool(later) and gone and all((look.graded or 0) > 0 for look in later)


def lessons(job: Job) -> tuple[Lesson, ...]:
    """Returns what is known of each optimizer on each rank, () where one of them cannot be judged."""
    found = []
    for process in job.ranks:
        for optimizer in sorted({look.model.optimizer for look in process.prints.looks}):
            looks = _alike(process.prints.of_optimizer(optimizer))
            if not looks or looks[-1].step - looks[0].step < ENOUGH or any(look.closure for look in looks):
                return ()
            found.append(Lesson(process=process, looks=looks))
    return tuple(found)


def _alike(looks: Sequence[Look]) -> tuple[Look, ...]:
    """Returns the looks at the parameters of the last one."""
    return tuple(look for look in looks if look.model.shapes == looks[-1].model.shapes)
