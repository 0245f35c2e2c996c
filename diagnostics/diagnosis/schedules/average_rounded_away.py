"""An average of the weights in bfloat16 or float16 is written to in each step and does not move: rounding takes it.

What it does: follows some numbers of the tensors in low precision that the program's objects hold, that are in no
optimizer, have the shapes of its parameters and lie near them. Where they are written to over a window of steps, and
of those that are far from their parameter fewer than one in two is another one at its end, in each of two windows and
more, what the average takes of the weights is smaller than its rounding.

Why it matters: bfloat16 has three digits. With a decay of 0.995 a two-hundredth of the difference is added, which is
nothing next to the number itself: the average stays where the first steps left it, and it is the average that is
evaluated and kept. Left alone: copies that nobody writes to (a frozen teacher), copies of the present weights, averages
in float32.

Fix: keep the average in float32, and cast it where it is used.

Bad:

    self.shadow = [p.detach().to(torch.bfloat16) for p in model.parameters()]

Good:

    self.shadow = [p.detach().float().clone() for p in model.parameters()]
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.marks.object_marks import AverageRounded

CODE = "D955"
NAME = "average-rounded-away"
CLASS = "zero-progress"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_NUMBERS, LEAST_WINDOWS = 64, 2
MOST_MOVED = 1 / 2  # an average that takes up what it is given moves nearly all of them
_WRITES = re.compile(r"\.(?:lerp|mul|add|sub|copy)_\(|_foreach_(?:lerp|mul|add|sub|copy)_?\(|\.update_parameters\(")
_LOW = re.compile(r"bfloat16|float16|\.half\(\)")


def match(job: Job) -> Match | None:
    """Returns the ranks whose average stands still."""
    found = [(process, marks) for process in job.ranks if (marks := _still(process))]
    if not found:
        return None
    process, marks = found[0]
    last = marks[-1]
    kind = last.kind.removeprefix("torch.")
    made = _made(job, process, last)
    return training_match(
        job,
        [process for process, _ in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{last.held} follows the weights in {kind} and is lost in its rounding: of {last.far} numbers that are "
        f"far from their weight {last.moved} moved in {last.steps} steps",
        evidence=[
            Evidence(
                source=f"steps {one.step - one.steps} to {one.step}: numbers of {one.held} far from their weight",
                observed=f"{one.moved} of {one.far} are other ones afterwards, and it was written to",
                expected="most of them",
            )
            for one in marks
        ],
        fix="keep the average in float32 (`p.detach().float().clone()`), and cast it where it is used",
        places=(
            *made,
            *_written(job, process, last),
            *lines_like(job, process, _LOW)[:1],
            *own(process, last.path)[:1],
        ),
        confidence=Confidence.LIKELY,
    )


def _still(process: JobProcess) -> list[AverageRounded]:
    """Returns the windows of an average in which almost nothing moved, () where one of them says otherwise."""
    marks = process.prints.marks_of(AverageRounded)
    for held in sorted({one.held for one in marks}):
        mine = [one for one in marks if one.held == held and one.far >= LEAST_NUMBERS]
        if len(mine) >= LEAST_WINDOWS and all(one.moved <= MOST_MOVED * one.far for one in mine):
            return mine
    return []


def _made(job: Job, process: JobProcess, mark: AverageRounded) -> tuple[Frame, ...]:
    """Returns where something of this name is made, in its class's file first."""
    name = re.compile(rf"(?<!\w){re.escape(mark.name)}\b(?:\s*:[^=]{{1,80}})?\s*=(?!=)")
    return tuple(sorted(lines_like(job, process, name, 40), key=lambda one: one.file != mark.file)[:1])


def _written(job: Job, process: JobProcess, mark: AverageRounded) -> tuple[Frame, ...]:
    """Returns lines that write to tensors in place, in its class's file."""
    found = lines_like(job, process, _WRITES, 40)
    return tuple(one for one in found if one.file == mark.file)[:2] or found[:1]
