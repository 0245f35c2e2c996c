"""Parameters that have gradients, are in no optimizer, and do not change. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.parameter_prints import Look

ENOUGH = 10  # steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Loose:
    """Of one rank: the first and the last look, and which parameters were the same in both and between."""

    process: JobProcess
    first: Look
    last: Look
    unchanged: tuple[int, ...]  # among the loose ones

    @property
    def index(self) -> int:
        """The first of them."""
        return self.unchanged[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.last.model.loose[index][0] for index in self.unchanged)


def loose_parameters(job: Job) -> tuple[Loose, ...]:
    """Returns what each rank has of them, () where one of them has none."""
    found = [_of_rank(process) for process in job.ranks if process.prints.looks]
    told = [one for one in found if one is not None]
    return tuple(told) if len(told) == len(found) else ()


def _of_rank(process: JobProcess) -> Loose | None:
    for optimizer in sorted({look.model.optimizer for look in process.prints.looks}):
        looks = process.prints.of_optimizer(optimizer)
        last = looks[-1]
        looks = tuple(look for look in looks if look.model.loose == last.model.loose and look.loose)
        if not looks or last.step - looks[0].step < ENOUGH or any(look.closure for look in looks):
            continue
        if last.model.loaded and not last.model.late:
            continue  # a part of a model that was read from a file is left as it was, perhaps on purpose
        if any(look.model.optimizer != optimizer for look in process.prints.looks):
            continue  # each of several optimizers may be given its part in turn
        count = min(len(look.loose) for look in looks)
        same = tuple(index for index in range(count) if _stands(looks, index))
        # One that changes is trained by hand, and the others may be; a gradient that stays is of an earlier phase.
        if same and len(same) == len(last.loose) and any(_is_computed(looks, index) for index in same):
            return Loose(process=process, first=looks[0], last=last, unchanged=same)
    return None


def _stands(looks: tuple[Look, ...], index: int) -> bool:
    values = [look.loose[index][0] for look in looks]
    return all(one.read and one.checksum == values[0].checksum for one in values)


def _is_computed(looks: tuple[Look, ...], index: int) -> bool:
    """Whether the gradient is another one at each look."""
    gradients = [look.loose[index][1] for look in looks]
    told = {one.checksum for one in gradients if one.read and not one.is_zero}
    return len(told) == len(gradients)
