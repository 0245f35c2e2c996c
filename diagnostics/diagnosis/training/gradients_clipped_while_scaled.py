"""Gradients are clipped while they are still multiplied by the loss scale.

What it does: knows of each clipping by torch's own functions whether a scaler took its scale out of the gradients since
the backward pass. Where, ten times in a row and more, it did so only afterwards, and the limit is less than a
thousandth of the scale, the limit held for gradients that are some ten thousand times too large.

Why it matters: nearly every step is clipped, to a ten-thousandth of what was meant. With SGD nothing is learnt; with
Adam the epsilon decides. Left alone: a limit that is multiplied by the scale, gradients that are below it.

Bad:

    scaler.scale(loss).backward()
    clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)

Good:

    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import ClippedScaled

CODE = "D916"
NAME = "gradients-clipped-while-scaled"
CLASS = "zero-progress"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks that clip before the scale is taken out."""
    found = latest(job, ClippedScaled)
    if not found:
        return None
    mark, path = found[0].mark, own(found[0].process, found[0].mark.path)[:1]
    at = f" at {job.line(path[0])}" if path else ""
    scale = f" of {mark.scale:g}" if mark.scale else ""
    left = f", which leaves {mark.limit / mark.scale:.2g} of it" if mark.scale else ""
    before = f"clipped to {mark.limit:g}" + (f", from {mark.norm:.3g}" if mark.norm is not None else "")
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Gradients are clipped to {mark.limit:g}{at} while they are still multiplied by the loss scale{scale}"
        f"{left}: so in {mark.run} and more steps in a row",
        evidence=[
            Evidence(
                source="order in each of these steps",
                observed=f"backward of the scaled loss, {before}, unscale_",
                expected="backward of the scaled loss, unscale_, clipping",
            )
        ],
        fix=f"call scaler.unscale_(optimizer) before the gradients are clipped{at}",
        places=path,
        confidence=Confidence.CONFIRMED if mark.norm is not None else Confidence.LIKELY,
    )
