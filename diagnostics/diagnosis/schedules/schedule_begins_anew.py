"""A run that was resumed goes on with weights, optimizer and counter, and its schedule of the rate begins anew.

What it does: knows the rate that the loaded state of an optimizer carries, and the one that its schedule had begun
with, and what the schedulers of this optimizer have counted at the first step after the load. It is told where each of
them begins at its start and none was given a state, though a variable of the program counts on from where the state was
saved, and the rate jumps away from the loaded one, or the scheduler
was made for as many steps as that variable and itself have counted; or though the checkpoint holds the state of such a
scheduler.

Why it matters: the second half of a run trains with the rates of the first: it goes back to the highest one, or through
the warm-up again, and ends long before the rate has come down. Left alone: runs that begin a new schedule with a
counter of their own or are over with the run, schedulers that are set on by hand or made with `last_epoch`, rates that
stay.

Fix: save the scheduler's state_dict() with the optimizer's, and load both.

Bad:

    optimizer.load_state_dict(state["optimizer"])
    scheduler = CosineAnnealingLR(optimizer, epochs)
    for epoch in range(state["epoch"] + 1, epochs): ...

Good:

    scheduler = CosineAnnealingLR(optimizer, epochs)
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, runs_on, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.schedule_marks import ScheduleAnew

CODE = "D954"
NAME = "schedule-begins-anew"
CLASS = "wrong-schedule"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

JUMPS = 1.25  # the rate is so many times the loaded one, or as much less
FALLS = 4.0  # what a schedule alone may take from the rate in its first step is less than that
OF_A_FUNCTION = "LambdaLR"  # which may have been set on to where the run had come
CLOSED = ("LambdaLR", "OneCycleLR")  # their first step forgets the rate that was loaded
LEAST_KEPT = 2
_RESET = re.compile(r"(?:reset|restart|new|fresh)[-_]?\w{0,20}(?:lr|sched|optim)", re.IGNORECASE)
TO_THE_END, NEAR = 0.85, 0.05  # of the steps that it was made for


def match(job: Job) -> Match | None:
    """Returns the ranks whose schedule begins anew."""
    found = [one for one in latest(job, ScheduleAnew, lambda mark: mark.since) if _is_wrong(one, runs_on(job))]
    if not found:
        return None
    mark, process = found[0].mark, found[0].process
    made, loaded, read = (own(process, path)[:1] for path in (mark.made, mark.loaded_at, mark.read_at))
    of = f" of {job.line(made[0])}" if made else ""
    at = f" at {job.line(loaded[0])}" if loaded else ""
    now = mark.first if _jumps(mark.loaded, mark.first) else mark.rate
    if _jumps(mark.loaded, now):
        carries = f"carries a rate of {mark.loaded:g}, and the steps go on with {now:g}"
    else:
        carries = (
            f"had come from a rate of {mark.initial:g} to {mark.loaded:g}, from where it takes the whole way again"
        )
    why = f"`{mark.key}` of the checkpoint, which had counted {mark.kept}, was loaded into no scheduler"
    if not mark.key:
        why = "the state of no scheduler is in the checkpoint"
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.scheduler}{of} begins at its start in a run that was resumed: the optimizer's state that was "
        f"loaded{at} {carries}",
        evidence=[
            Evidence(
                source=f"learning rate from step {mark.since} on, the first after the load",
                observed=f"{mark.loaded:g} loaded, begun with {mark.initial:g}; {mark.first:g} at this step, "
                f"{mark.rate:g} at step {mark.step}",
                expected=f"about {mark.loaded:g}",
            ),
            Evidence(
                source=f"{mark.scheduler} at step {mark.since}",
                observed=f"had counted {mark.began}; {why}"
                + (f"; `{mark.variable}` counts on from the checkpoint" if mark.variable else ""),
            ),
        ],
        fix="save scheduler.state_dict() with the optimizer's state and load both, or make the scheduler with "
        "last_epoch=",
        places=(*made, *loaded, *read),
        confidence=Confidence.LIKELY,
    )


def _is_wrong(told: Told[ScheduleAnew], running: bool) -> bool:
    mark = told.mark
    is_set = mark.scheduler not in CLOSED and _jumps(mark.loaded, mark.first)  # the program itself gave it another rate
    if mark.key and mark.kept >= LEAST_KEPT and mark.alike and not is_set and not _asked_for(told.process):
        return True
    if not mark.variable or (mark.scheduler == OF_A_FUNCTION and not _is_elsewhere(mark)):
        return False  # it counts from 0 as well, or is a function that was set on to where it had come
    if mark.horizon is None:
        return _is_elsewhere(mark)
    if running:  # it may be made for what is left
        return False
    steps = told.process.steps - mark.since + 1
    counted = mark.began + (mark.count - mark.began) * steps / (mark.step - mark.since)
    if counted >= TO_THE_END * mark.horizon:
        return False
    is_for_the_whole = abs(counted + mark.counted - mark.horizon) <= max(1, NEAR * mark.horizon)
    return is_for_the_whole or _is_elsewhere(mark)


def _asked_for(process: JobProcess) -> bool:
    """Whether the command line asks for a new schedule."""
    return any(_RESET.search(word) for word in process.argv[1:])


def _is_elsewhere(mark: ScheduleAnew) -> bool:
    """Whether the rate goes away from the loaded one at once: no schedule that goes on does."""
    if _jumps(mark.loaded, mark.first) or mark.rate > JUMPS * mark.loaded:
        return True
    return mark.scheduler in CLOSED and mark.scheduler != OF_A_FUNCTION and mark.rate * FALLS < mark.loaded


def _jumps(loaded: float, rate: float) -> bool:
    return rate > JUMPS * loaded or rate * JUMPS < loaded
