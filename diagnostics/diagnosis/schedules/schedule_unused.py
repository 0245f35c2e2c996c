"""A schedule was made for the optimizer, and in all of the run nobody steps it: the rate stays as it is.

What it does: looks at a few steps whether the schedulers of an optimizer were ever stepped. Told where none was over
several epochs, and the rate is still the one that they left when they were made.

Why it matters: there is no warm-up and no annealing, though the program has them. `scheduler.step()` stands behind a
test that is never true, in a branch of another precision, or in a hook that nobody calls.

Left alone: rates that the program sets itself, schedules of which one waits for the other, one or two epochs.

Fix: step it once for each optimizer step or epoch, as it was made for.

Bad:

    if scaler is None:
        optimizer.step()
        scheduler.step()
    else:
        scaler.step(optimizer)

Good:

    scaler.step(optimizer) if scaler is not None else optimizer.step()
    scheduler.step()
"""

from __future__ import annotations

import re
from itertools import accumulate

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.schedule_marks import ScheduleUnused

CODE = "D956"
NAME = "schedule-unused"
CLASS = "wrong-schedule"
EXAMINES = AppliesTo.SUCCEEDED

LEAST_PASSES, BEHIND = 3, 2  # whole passes of the training; and of these, before the look
_STEPS = re.compile(r"\b\w{0,40}sched\w{0,40}(?:\[\w+\])?\.step\(")


def match(job: Job) -> Match | None:
    """Returns the ranks whose schedule does nothing."""
    found = [one for one in latest(job, ScheduleUnused, lambda mark: mark.optimizer) if _is_for_good(one)]
    if not found:
        return None
    first = found[0]
    mark, process = first.mark, first.process
    made, stepped = own(process, mark.made)[:1], own(process, mark.path)[:1]
    at = f" of {job.line(made[0])}" if made else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.scheduler}{at} is never stepped: the learning rate stays at {mark.rate:g} in all {process.steps} "
        "steps",
        evidence=[
            Evidence(
                source=f"{mark.scheduler} at optimizer step {mark.step}, in the epochs up to then",
                observed="0 steps",
                expected="1 in each epoch, or with each optimizer step",
            )
        ],
        fix="call scheduler.step() where the optimizer steps or where an epoch ends, and see which test keeps the run "
        "from it",
        places=(*nearest(job, process, _STEPS, stepped)[:2], *made, *stepped),
        confidence=Confidence.LIKELY,
    )


def _is_for_good(told: Told[ScheduleUnused]) -> bool:
    """Whether it was the latest look there could be, and several epochs were over by then."""
    process = told.process
    if process.steps >= 2 * told.mark.step or process.agent is None:
        return False  # the next look did not see it unused
    passes = [one for source in process.agent.sources for one in source.passes if one.trained and one.ended]
    ends = list(accumulate(one.steps for one in sorted(passes, key=lambda one: one.began_s)))
    return len(ends) >= LEAST_PASSES and ends[BEHIND - 1] <= told.mark.step
