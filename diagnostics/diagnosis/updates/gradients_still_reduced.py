"""Steps use gradients that are still being reduced: nobody waits for each asynchronous operation.

What it does: before each step looks whether an `all_reduce(..., async_op=True)` of a gradient was started, and its
handle neither waited for nor asked. Ten steps in a row are told.

Why it matters: on the host, operations do not end in the order in which they began: to wait for the last handle says
nothing about the others. A step then uses a gradient before, in the middle of or after its reduction, another one on
each rank, and the models drift apart. On a GPU the operations of a group follow each other, and nothing is told.

Fix: `for work in works: work.wait()`.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import OpenReductions

CODE = "D931"
NAME = "gradients-still-reduced"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose steps do not wait for their gradients."""
    found = latest(job, OpenReductions, lambda mark: mark.optimizer)
    if not found:
        return None
    mark, process = found[0].mark, found[0].process
    waiting, started = own(process, mark.waiting)[:1], own(process, mark.started)[:1]
    stepped = own(process, mark.stepped)[:1]
    who = f"{job.line(waiting[0])} waits for {mark.waited}" if waiting and mark.waited else "nobody waits for any"
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Steps use {mark.open} of {mark.gradients} gradients while {mark.operation} may still change them: of "
        f"the asynchronous operations{f' started at {job.line(started[0])}' if started else ''} {who}",
        evidence=[
            Evidence(
                source=f"{mark.run} steps in a row, up to step {mark.step}: handles of {mark.operation} of gradients",
                observed=f"{mark.waited} waited for, {mark.open} neither waited for nor asked",
                expected=f"all {mark.open + mark.waited} waited for before the step",
            )
        ],
        fix="wait for each handle before the step: for work in works: work.wait()",
        places=(*waiting, *started, *stepped),
        confidence=Confidence.CONFIRMED,
    )
