"""A schedule that is stepped with each optimizer step counts something else: epochs, all ranks' or all micro-batches.

What it does: knows of schedulers that are stepped with each step of their optimizer after how many of these they are to
end, or have their last milestone. Told where milestones that are numbers of epochs were all passed within the first of
these; where a schedule is made for as many steps as all ranks make together; and where it is made for the batches of
the run, of which several make one step.

Why it matters: a rate that falls to a hundredth after ten batches trains no further; one that should fall to 0 by the
end is still at the half of it when the run is over, and its warm-up takes N times as long. Nothing fails. Left alone:
milestones of steps, schedules of one's own length, those that end for another reason than one of these three.

Bad:

    scheduler = MultiStepLR(optimizer, milestones=[30, 60])   # epochs
    for epoch in range(90):
        for x, y in loader:
            ...
            scheduler.step()

    total = epochs * math.ceil(len(dataset) / batch_size)     # of each rank's loader: 1 / world_size of it

Good:

    for epoch in range(90):
        train_epoch()
        scheduler.step()

    total = epochs * len(loader)

Fix: step it once an epoch, or make it for the steps that one rank's optimizer makes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.given_lengths import length_given_at
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.batch_data import LoaderPass, SourceKind
from diagnostics.record.marks.schedule_marks import SchedulePaced

CODE = "D976"
NAME = "schedule-counts-others"
CLASS = "wrong-schedule"
EXAMINES = AppliesTo.SUCCEEDED

LEAST_STEPS, LEAST_IN_EPOCH = 30, 5
EARLIEST = 0.25  # of the epochs: where the last milestone of a run lies
ABOUT = 0.02  # of a number of steps
_STEPS = re.compile(r"\b\w{0,40}?(?:sched|lr)\w{0,40}(?:\[\w{1,40}\])?\.step\(")


@dataclass(frozen=True, slots=True)
class Count:
    """What a schedule counts, in words."""

    title: str
    observed: str
    expected: str
    fix: str


def match(job: Job) -> Match | None:
    """Returns the ranks whose schedule counts something else than it is stepped by."""
    told = latest(job, SchedulePaced, lambda mark: (mark.optimizer, mark.made))
    found = [(one, count) for one in told if (count := _counted(one, len(job.ranks))) is not None]
    if not found:
        return None
    first, count = found[0]
    mark, process = first.mark, first.process
    made, stepped = own(process, mark.made), own(process, mark.path)[:1]
    given = length_given_at(job, made)[:1]
    steps = nearest(job, process, _STEPS, stepped or made)[:1] if mark.first else ()
    at = f" of {job.line(given[0])}" if given else ""
    return training_match(
        job,
        [one.process for one, _ in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.scheduler}{at} is stepped with each of {process.steps} steps, and {count.title}",
        evidence=[
            Evidence(
                source=f"{mark.scheduler} at optimizer step {mark.step}, rate {mark.rate:g}",
                observed=count.observed,
                expected=count.expected,
            )
        ],
        fix=count.fix,
        places=tuple(dict.fromkeys([*steps, *given, *made[:1], *stepped])),
        confidence=Confidence.LIKELY,
    )


def _counted(told: Told[SchedulePaced], ranks: int) -> Count | None:
    mark, process = told.mark, told.process
    if process.steps < LEAST_STEPS or len({look.model.optimizer for look in process.prints.looks}) > 1:
        return None
    passes = _passes(process)
    return _of_epochs(mark, passes) if mark.first else _of_others(mark, process.steps, passes, ranks)


def _of_epochs(mark: SchedulePaced, passes: list[LoaderPass]) -> Count | None:
    """Whether the milestones are where one would have them among the epochs, and were passed within the first."""
    epochs, steps = len(passes), min((one.steps for one in passes), default=0)
    if steps < LEAST_IN_EPOCH or not EARLIEST * epochs <= mark.horizon <= epochs or mark.horizon >= 2 * steps:
        return None
    return Count(
        title=f"its milestones are of the {epochs} epochs: the last one, {mark.horizon}, was behind it in epoch "
        f"{-(-mark.horizon // steps)}",
        observed=f"all milestones from {mark.first} to {mark.horizon} passed",
        expected=f"the last one in epoch {mark.horizon} of {epochs}, of {steps} steps each",
        fix="call scheduler.step() once an epoch, behind its last batch, or multiply the milestones by len(loader)",
    )


def _of_others(mark: SchedulePaced, total: int, passes: list[LoaderPass], ranks: int) -> Count | None:
    """Whether the length is that of all ranks together, or that of the micro-batches, and no step was left out."""
    rounding = len(passes) if passes else ABOUT * total
    if ranks > 1 and abs(mark.horizon - ranks * total) <= ranks * rounding <= mark.horizon / 4:
        return Count(
            title=f"is made for {mark.horizon}, as many as its {ranks} ranks make together: the run ends at 1/{ranks} "
            "of the schedule",
            observed=f"made for {mark.horizon} steps",
            expected=f"{total} steps, those of one rank's own loader",
            fix="count with len(loader), which is the rank's own number of batches, not with len(dataset)",
        )
    batches = sum(one.batches for one in passes)
    every = round(batches / total) if total else 0
    if every < 2 or abs(batches - every * total) > every * rounding or rounding > total / 4:
        return None
    if abs(mark.horizon - batches) > max(ABOUT * batches, 1):
        return None
    return Count(
        title=f"is made for {mark.horizon}, the batches of the run, of which {every} make one step: the run ends at "
        f"1/{every} of the schedule",
        observed=f"made for {mark.horizon} steps",
        expected=f"{total} steps of the optimizer",
        fix=f"divide its number of steps, and that of the warm-up, by the {every} batches that one step accumulates",
    )


def _passes(process: JobProcess) -> list[LoaderPass]:
    """Returns those of the loader that was trained on most."""
    sources = process.agent.sources if process.agent is not None else ()
    trained = [[one for one in each.passes if one.steps] for each in sources if each.kind is SourceKind.LOADER]
    return max(trained, key=lambda passes: sum(one.steps for one in passes), default=[])
