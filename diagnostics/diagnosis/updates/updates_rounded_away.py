"""Weights in bfloat16 or float16 have gradients and do not move: each step is smaller than their rounding.

What it does: follows some numbers of the weights over windows of steps. Where of those that had a gradient fewer than
one in four is another one at the end of a window, in each of two windows and more, the steps are lost. A
model that moved at first and stands still later may have learned what there is.

Why it matters: bfloat16 has three digits. A weight of 0.5 stays 0.5 where a step would take 0.0005 from it, a thousand
times in a row. The loss is printed and hardly falls. Left alone: optimizers that are not torch's own, which may
keep what rounding takes, and weights in float32 under autocast.

Fix: keep the weights in float32 and compute in bfloat16: `with torch.autocast(device, dtype=torch.bfloat16)`.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import RoundedUpdates

CODE = "D932"
NAME = "updates-rounded-away"
CLASS = "zero-progress"
EXAMINES = AppliesTo.SUCCEEDED

LEAST_NUMBERS, LEAST_WINDOWS = 64, 2
MOST_MOVED = 1 / 4


def match(job: Job) -> Match | None:
    """Returns the ranks whose steps are lost."""
    found = [(process, marks) for process in job.ranks if (marks := _lost(process))]
    if not found:
        return None
    process, marks = found[0]
    last = marks[-1]
    made, stepped = own(process, last.made)[:1], own(process, last.stepped)[:1]
    kind = last.kind.removeprefix("torch.")
    rate = f" with a rate of {last.rate:g}" if last.rate is not None else ""
    return training_match(
        job,
        [process for process, _ in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{last.optimizer_class} steps are lost in the rounding of {kind}: of {last.graded} numbers with a "
        f"gradient {last.moved} moved in {last.steps} steps{rate}",
        evidence=[
            Evidence(
                source=f"steps {one.step - one.steps} to {one.step}: numbers of {kind} weights that had a gradient",
                observed=f"{one.moved} of {one.graded} are other ones afterwards",
                expected="most of them",
            )
            for one in marks
        ],
        fix=f"keep the weights in float32 and compute under torch.autocast(..., dtype={last.kind}), or use an "
        "optimizer that keeps float32 copies of them",
        places=(*made, *stepped),
        confidence=Confidence.LIKELY,
    )


def _lost(process: JobProcess) -> list[RoundedUpdates]:
    """Returns the windows of an optimizer in which almost nothing moved, () where one of them says otherwise."""
    marks = process.prints.marks_of(RoundedUpdates)
    for optimizer in sorted({one.optimizer for one in marks}):
        mine = [one for one in marks if one.optimizer == optimizer and one.graded >= LEAST_NUMBERS]
        if len(mine) >= LEAST_WINDOWS and all(one.moved <= MOST_MOVED * one.graded for one in mine):
            return mine
    return []
