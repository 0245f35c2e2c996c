"""Parameters that hold NaN or infinity, and where that came from: which rank, step and parameter. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.parameter_prints import BadLoss, Look


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFinite:
    """One rank whose parameters are no numbers any more at the last look."""

    process: JobProcess
    look: Look  # the first before which one of them was not finite
    parameter: str  # the first of them
    count: int  # of them, then
    looks: int  # from that one on
    sampled: int
    by_gradient: tuple[Look, str] | None  # the first look at which a gradient was not finite, and whose
    bad_loss: BadLoss | None  # the first one, where it was not later than that

    @property
    def step(self) -> int:
        """The earliest step known at which something was not finite."""
        steps = [self.look.step]
        steps += [self.by_gradient[0].step] if self.by_gradient is not None else []
        steps += [self.bad_loss.steps + 1] if self.bad_loss is not None else []
        return min(steps)


def not_finite(job: Job) -> tuple[NotFinite, ...]:
    """Returns the ranks whose parameters ended as NaN, the one where it began first."""
    found = [one for process in job.ranks for one in _of_rank(process)]
    return tuple(sorted(found, key=lambda one: (one.step, one.bad_loss is None, one.process.rank)))


def _of_rank(process: JobProcess) -> list[NotFinite]:
    found = []
    for optimizer in sorted({look.model.optimizer for look in process.prints.looks}):
        looks = process.prints.of_optimizer(optimizer)
        if not _broken(looks[-1]):
            continue  # it was, perhaps, and the job went back to a state before
        first = next(look for look in looks if _broken(look))
        graded = next(((look, name) for look in looks if (name := _first_gradient(look))), None)
        bad = next(iter(process.prints.bad_losses), None)
        found.append(
            NotFinite(
                process=process, look=first, parameter=_broken(first)[0], count=len(_broken(first)),
                looks=sum(look.step >= first.step for look in looks),
                sampled=len(first.values), by_gradient=graded,
                bad_loss=bad if bad is not None and bad.steps < first.step else None,
            )
        )  # fmt: skip
    return found


def _broken(look: Look) -> list[str]:
    return [name for name, one in zip(look.model.names, look.values, strict=True) if one.read and not one.is_finite]


def _first_gradient(look: Look) -> str:
    pairs = zip(look.model.names, look.gradients, strict=True)
    return next((name for name, one in pairs if one.read and not one.is_finite), "")
