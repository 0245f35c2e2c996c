"""The schedule of the learning rate was over long before the run, since it was stepped several times a step.

What it does: knows for how many steps a scheduler was made, and after which optimizer step it had made them. Where it
was made for about as many steps as the optimizer made, and was stepped one and a half times as often and more, it is
stepped with each micro-batch or, by Accelerate, once for each process.

Why it matters: the rate is at its end after a half or an N-th of the run, or, with a cosine, rises again. Left alone:
schedules that are made for as many steps as they are given, whatever these are, and those that go on.

Fix: step the scheduler after optimizer.step() alone; with Accelerate make it for N times the steps, or do not prepare
it.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.given_lengths import length_given_at
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import RateGone, ScheduleOver

CODE = "D921"
NAME = "schedule-too-fast"
CLASS = "wrong-schedule"
EXAMINES = AppliesTo.SUCCEEDED
TOO_OFTEN = 1.5  # steps of the scheduler for each of the optimizer
LEAST_STEPS = 20
ABOUT = 1.25  # as many, more or less


def match(job: Job) -> Match | None:
    """Returns the ranks whose schedule ended too early."""
    found = [one for one in latest(job, ScheduleOver, lambda mark: mark.made) if _is_too_fast(one)]
    if not found or any(one.process.prints.marks_of(RateGone) for one in found):
        return None  # the rate is 0 by that: which says more
    first = found[0]
    mark, made = first.mark, own(first.process, first.mark.made)
    total = first.process.steps
    often = mark.stepped / mark.step
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.scheduler}{f' of {job.line(made[0])}' if made else ''} is stepped {often:.3g} times with each "
        f"optimizer step: it was made for {mark.horizon} steps and was over after {mark.step} of {total}",
        evidence=[
            Evidence(
                source=f"{mark.scheduler} at optimizer step {mark.step}",
                observed=f"{mark.stepped} steps, made for {mark.horizon}",
                expected=f"{mark.step} steps",
            )
        ],
        fix="step the scheduler once after each optimizer.step(); with Accelerate, which steps a prepared scheduler "
        "once for each process, make it for N times as many steps, or do not prepare it",
        places=tuple(dict.fromkeys([*length_given_at(job, made)[:1], *made[:1]])),
        confidence=Confidence.LIKELY,
    )


def _is_too_fast(told: Told[ScheduleOver]) -> bool:
    mark, process = told.mark, told.process
    total = process.steps
    if total < LEAST_STEPS or len({look.model.optimizer for look in process.prints.looks}) != 1:
        return False
    is_for_the_run = mark.horizon <= ABOUT * total and total <= ABOUT * mark.horizon
    return is_for_the_run and mark.step > 0 and mark.stepped >= TOO_OFTEN * mark.step
