"""The learning rate came down to nothing long before the steps ended.

What it does: looks at the learning rate of each step. Where it was above 0 and then, for a third of all steps and more
up to the last one, is 0 or less than a ten-millionth of what it was, these steps change nothing. The scheduler's own
count says why: stepped more often than the optimizer (each micro-batch, each rank, each batch in place of each epoch),
or made for fewer steps than there are.

Why it matters: the loss is printed and checkpoints are written, and a third or nine tenths of the run are wasted. Left
alone: schedules that end at 0 with the run, warm-ups, reductions on a plateau.

Fix: give the schedule the number of times scheduler.step() is called: optimizer steps, not batches, samples or epochs.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, nearest, runs_on, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.given_lengths import length_given_at
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import RateGone

CODE = "D904"
NAME = "learning-rate-gone"
CLASS = "zero-progress"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True
SHARE = 3  # of all steps, one in so many
TOO_OFTEN = 1.5  # steps of the scheduler for each of the optimizer
DECAYS = ("StepLR", "MultiStepLR", "ExponentialLR", "MultiplicativeLR")  # again and again, without an end
PLATEAU = "ReduceLROnPlateau"  # it lowers the rate for what it sees

_STEPS = re.compile(r"\b\w*(?:sched|lr)\w*(?:\[\w+\])?\.step\(|\[.lr.\]\s*[*]?=")


def match(job: Job) -> Match | None:
    """Returns the optimizer whose learning rate is gone."""
    found = [one for one in latest(job, RateGone, lambda mark: mark.optimizer) if _lasts(one, runs_on(job))]
    if not found:
        return None
    first = max(found, key=lambda one: one.mark.run)
    mark, process = first.mark, first.process
    made, stepped = length_given_at(job, own(process, mark.made))[:1], own(process, mark.path)[:1]
    often = mark.stepped is not None and mark.stepped >= TOO_OFTEN * mark.step
    schedule = nearest(job, process, _STEPS, stepped)
    places = (*schedule, *made, *stepped) if often or not made else (*made, *schedule, *stepped)
    total = max(process.steps, mark.step)
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class="wrong-schedule" if mark.scheduler in DECAYS or often else CLASS,
        title=f"The learning rate is {_gone(mark)} from step {mark.first} of {total} on, after {mark.peak:g} at most: "
        f"these steps change nothing{_why(mark, often)}",
        evidence=[
            Evidence(
                source=f"learning rate of each of {total} steps",
                observed=f"{mark.rate:g} in steps {mark.first} to {mark.step} and after",
                expected="above 0 up to the end",
            ),
            *_scheduler(mark),
        ],
        fix="call scheduler.step() once an epoch, or have it lower the rate after as many more steps as an epoch has"
        if mark.scheduler in DECAYS
        else "step the scheduler once after each optimizer.step(), or give it the number of calls of scheduler.step() "
        "there will be",
        places=places,
        confidence=Confidence.CONFIRMED if mark.rate == 0 else Confidence.LIKELY,
    )


def _lasts(told: Told[RateGone], running: bool) -> bool:
    """Whether the rate stayed there, and for long enough: half of all steps of a job that runs on."""
    mark, steps = told.mark, told.process.steps
    if mark.scheduler == PLATEAU or steps > mark.step + mark.run:
        return False
    gone = max(steps, mark.step) - mark.first + 1
    return gone >= mark.first - 1 and mark.run > 10 if running else SHARE * gone >= steps


def _gone(mark: RateGone) -> str:
    return f"{mark.rate:g}" if not mark.rate else f"next to nothing ({mark.rate:g} at step {mark.step})"


def _why(mark: RateGone, often: bool) -> str:
    if mark.scheduler in DECAYS and not often:
        every = f"every {mark.horizon} steps" if mark.horizon else "again and again"
        return f", since {mark.scheduler} lowers it {every} and is stepped {mark.stepped} times in {mark.step}"
    if often and mark.stepped is not None:
        return f", since {mark.scheduler} was stepped {mark.stepped} times in {mark.step} optimizer steps"
    return f", since {mark.scheduler} ends after {mark.horizon} steps" if mark.horizon and mark.scheduler else ""


def _scheduler(mark: RateGone) -> tuple[Evidence, ...]:
    if not mark.scheduler:
        return ()
    said = f"{mark.stepped} steps" + (f", made for {mark.horizon}" if mark.horizon else "")
    return (Evidence(source=f"{mark.scheduler} at optimizer step {mark.step}", observed=said),)
