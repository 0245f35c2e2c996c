"""Gradients are clipped after the step that used them: the limit holds for no step.

What it does: sees each clipping by torch's own functions, and the backward passes and steps around it. It is told where
it came after the step and before the next backward pass, ten steps in a row and more, and never between the two.

Why it matters: each step uses the gradients as they are. The limit that was to hold off the rare large one does
nothing, and the run diverges where it should not. Left alone: limits so high that only the norm is wanted, clipping
between the steps of two optimizers.

Bad:

    loss.backward()
    optimizer.step()
    clip_grad_norm_(model.parameters(), 1.0)

Good:

    loss.backward()
    clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import ClippedLate

CODE = "D943"
NAME = "gradients-clipped-late"
CLASS = "gradients-lost"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks that clip after the step."""
    found = latest(job, ClippedLate)
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    clipped, stepped = own(process, mark.path)[:2], own(process, mark.stepped)[:1]
    at, before = (f" at {job.line(frames[0])}" if frames else "" for frames in (clipped, stepped))
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Gradients are clipped to {mark.limit:g}{at} after the step{before} that used them, {mark.run} steps in "
        "a row: the limit holds for no step",
        evidence=[
            Evidence(
                source="order of calls in each of these steps",
                observed="backward pass, optimizer step, clipping",
                expected="backward pass, clipping, optimizer step",
            )
        ],
        fix=f"clip between backward() and step(){f', before {job.line(stepped[0])}' if stepped else ''}",
        places=(*clipped[:1], *stepped, *clipped[1:]),
        confidence=Confidence.CONFIRMED,
    )
