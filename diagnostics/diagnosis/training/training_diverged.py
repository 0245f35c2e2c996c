"""The training diverged: loss and weights grew by a factor of ten and more together, and stayed there, all finite.

What it does: reads the loss and samples of the weights before a few steps. Where, over the last half of the steps that
were looked at, the loss is ten times what it was at first and more, and the weights are ten times as large, the steps
lead away from a solution. Left alone: several optimizers (what one gains is what the other loses), losses that were 0
or negative, a loss that grows over weights that do not.

Why it matters: nothing is NaN, so nothing stops, and checkpoints of it are written.

Fix: a smaller learning rate, a warm-up, or clipped gradients.
"""

from __future__ import annotations

from math import sqrt

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.learning import lessons
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.parameter_prints import Look

CODE = "D920"
NAME = "training-diverged"
CLASS = "diverged"
EXAMINES = AppliesTo.ANY
FACTOR = 10.0
LEAST_LOOKS = 4


def match(job: Job) -> Match | None:
    """Returns the ranks whose training diverged."""
    found = [lesson for lesson in lessons(job) if _has_diverged(lesson.looks)]
    one_each = len({process.pid for process in _trained(job)}) == len(found) == len(lessons(job))
    if not found or not one_each:
        return None
    first = found[0]
    begun, last = first.looks[0], first.last
    rate = next((rate for rate in begun.rates if rate), None)
    made, stepped = own(first.process, last.model.made)[:1], own(first.process, last.model.stepped)[:1]
    rows = [f"step {look.step}  loss {look.loss:.4g}  weights {_size(look):.4g}" for look in first.looks]
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The training diverged: the loss was {begun.loss:.3g} at step {begun.step} and is {last.loss:.3g} at "
        f"step {last.step}, and the weights are {_size(last) / _size(begun):.3g} times as large"
        f"{f', with learning rate {rate:g}' if rate else ''}",
        evidence=[
            Evidence(
                source="before a few steps: the loss, and the root mean square of what was read of the weights",
                observed="\n".join(rows),
                expected="a loss that falls",
            )
        ],
        fix=f"lower the learning rate{f' of {job.line(made[0])}' if made else ''}, warm it up, or clip the gradients",
        places=(*made, *stepped),
        confidence=Confidence.LIKELY,
    )


def _trained(job: Job) -> list[JobProcess]:
    return [process for process in job.ranks if process.prints.looks]


def _has_diverged(looks: tuple[Look, ...]) -> bool:
    first, late = looks[0], looks[len(looks) // 2 :]
    if len(looks) < LEAST_LOOKS or any(look.loss is None or not 0 < look.loss < float("inf") for look in looks):
        return False
    return _size(first) > 0 and all(
        (look.loss or 0.0) >= FACTOR * max(one.loss or 0.0 for one in looks[:2])
        and _size(look) >= FACTOR * _size(first)
        for look in late
    )


def _size(look: Look) -> float:
    """Returns the root mean square over what was read of all weights."""
    sizes = [one.size for one in look.values if one.read and one.size is not None and one.is_finite]
    return sqrt(sum(size * size for size in sizes) / len(sizes)) if sizes else 0.0
