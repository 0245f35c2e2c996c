"""The learning rate that a schedule writes is read by no step: it writes into groups or an optimizer of before.

What it does: knows which groups an optimizer had before a state was loaded into it, and compares, step by step, what is
written into them with the rate that the steps use. It is told where that one changes three times and more while this
one stays as it was loaded. The same of a scheduler of torch's that goes on with an optimizer that makes no step, while
another one that was made for the same parameters makes them all.

Why it matters: the run prints the rates of the schedule and trains with the one it was resumed with: no warm-up, no
decay. Left alone: loggers that hold a group and read it, schedules that write into both, optimizers that take turns.

Fix: read optimizer.param_groups anew in each step of the schedule, or make the schedule after the state was loaded; an
optimizer that is made anew needs a scheduler of its own.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.marks.object_marks import RatesLost

CODE = "D935"
NAME = "rates-lost"
CLASS = "wrong-schedule"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_STEPS = 10
# What keeps the groups, or one of them, for later.
_KEEPS = re.compile(r"=\s*[\w.]{0,60}\.param_groups(?:\[\d+\])?\s*$|\bfor\b.{0,60}\.param_groups\b.{0,20}\]\s*$")
_MAKES = re.compile(r"\b\w{0,40}opt\w{0,40}\s*=\s*[\w.]{0,60}(?:Adam\w*|SGD|RMSprop|\w*[Oo]ptim\w*)\(")


def match(job: Job) -> Match | None:
    """Returns the ranks whose schedule is heard by nobody."""
    found = [one for one in latest(job, RatesLost) if one.mark.step - one.mark.since >= LEAST_STEPS]
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    made, stepped = own(process, mark.made)[:1], own(process, mark.stepped)[:1]
    steps = mark.step - mark.since
    if mark.scheduler:
        at = f" of {job.line(made[0])}" if made else ""
        title = (
            f"{mark.scheduler}{at} was stepped {mark.changes} times in {steps} steps for an optimizer that makes none: "
            f"the one that trains its parameters stays at {mark.rate:g}"
        )
        fix = "make the scheduler anew, for the optimizer that makes the steps"
        places = (*made, *nearest(job, process, _MAKES, made)[-1:], *stepped)
    else:
        at = f" at {job.line(made[0])}" if made else ""
        title = (
            f"What the schedule writes reaches no step: it holds the groups that load_state_dict{at} replaced, wrote "
            f"{mark.changes} rates into them in {steps} steps, and the steps stay at {mark.rate:g}"
        )
        fix = "read optimizer.param_groups in each step of the schedule, or make it after the state was loaded"
        places = (*lines_like(job, process, _KEEPS)[:1], *made, *stepped)
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=title,
        evidence=[
            Evidence(
                source=f"learning rates at optimizer step {mark.step}",
                observed=f"written {mark.written:g}, used {mark.rate:g}, for {steps} steps",
                expected="the same",
            )
        ],
        fix=fix,
        places=places,
    )
