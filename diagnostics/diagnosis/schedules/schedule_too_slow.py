"""A schedule that is made for all steps of the run is stepped once an epoch: it never leaves its beginning.

What it does: knows for how many steps a scheduler was made, and how often it was stepped at a few steps of its
optimizer. Told where it was made for about as many steps as the run had, or as many batches, and was stepped in one of
three and fewer.

Why it matters: a OneCycleLR or a warm-up is still at a small part of the rate when the run ends, a cosine or linear
decay never lowers it. Nothing fails; the model learns too slowly or does not settle. Left alone: schedules of epochs
that are stepped once an epoch, runs that end earlier than the schedule was made for, decays that have no end.

Fix: call scheduler.step() after each optimizer.step(), or make it for the epochs.

Bad:

    scheduler = OneCycleLR(optimizer, 0.1, epochs=epochs, steps_per_epoch=len(loader))
    for epoch in range(epochs):
        train_one_epoch(model, loader, optimizer)
        scheduler.step()

Good:

    for x, y in loader:
        ...
        optimizer.step()
        scheduler.step()
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.batch_data import SourceKind
from diagnostics.record.marks.schedule_marks import ScheduleSlow

CODE = "D972"
NAME = "schedule-too-slow"
CLASS = "wrong-schedule"
EXAMINES = AppliesTo.SUCCEEDED

LEAST_STEPS = 20
ABOUT = 1.05  # as many, more or less
_STEPS = re.compile(r"\b\w{0,40}?(?:sched|lr)\w{0,40}(?:\[\w{1,40}\])?\.step\(")


def match(job: Job) -> Match | None:
    """Returns the ranks whose schedule has barely begun."""
    found = [one for one in latest(job, ScheduleSlow, lambda mark: (mark.optimizer, mark.made)) if _is_too_slow(one)]
    if not found:
        return None
    first = found[0]
    mark, process = first.mark, first.process
    made, stepped = own(process, mark.made), own(process, mark.path)[:1]
    at = f" of {job.line(made[0])}" if made else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.scheduler}{at} is made for {mark.horizon} steps and was stepped {mark.stepped} times in "
        f"the first {mark.step} of {process.steps}: its rate, {mark.rate:g}, never leaves the beginning",
        evidence=[
            Evidence(
                source=f"{mark.scheduler} at optimizer step {mark.step}",
                observed=f"{mark.stepped} steps, made for {mark.horizon}",
                expected=f"{mark.step} steps",
            )
        ],
        fix="call scheduler.step() after each optimizer.step(), or make the schedule for as many steps as there are "
        "epochs",
        places=tuple(dict.fromkeys([*nearest(job, process, _STEPS, made or stepped)[:1], *made[:2], *stepped])),
        confidence=Confidence.LIKELY,
    )


def _is_too_slow(told: Told[ScheduleSlow]) -> bool:
    """Whether it was the latest look there could be, and its end is that of the run."""
    mark, process = told.mark, told.process
    total = process.steps
    if total < LEAST_STEPS or total >= 2 * mark.step or len({one.model.optimizer for one in process.prints.looks}) != 1:
        return False
    return any(mark.horizon <= ABOUT * count and count <= ABOUT * mark.horizon for count in (total, _batches(process)))


def _batches(process: JobProcess) -> int:
    """Returns how many batches the loader handed over that was trained on most."""
    sources = process.agent.sources if process.agent is not None else ()
    trained = [[one for one in each.passes if one.steps] for each in sources if each.kind is SourceKind.LOADER]
    return max((sum(one.batches for one in passes) for passes in trained), default=0)
