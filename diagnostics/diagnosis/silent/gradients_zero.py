"""Every gradient is exactly zero, at each step that was looked at.

What it does: samples the gradients of all parameters before a few steps. Where every number is 0 at each of them on
every rank, and was so right after the backward pass, the loss does not depend on the model: multiplied by 0, masked
whole, clamped, or computed of a constant.

Why it matters: the loss is printed and steps are made, and only weight decay changes the model.

Fix: follow the loss back to the output: a mask that is all zero, a label that is always ignored, clamp or argmax.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.job.said_of_itself import says_nothing_is_left
from diagnostics.dynamic.replicas.learning import lessons
from diagnostics.dynamic.replicas.source_lines import own

CODE = "D528"
NAME = "gradients-zero"
CLASS = "zero-progress"
EXAMINES = AppliesTo.SUCCEEDED


def match(job: Job) -> Match | None:
    """Returns the job whose gradients are all zero, on every rank."""
    found = lessons(job)
    if not found or not all(one.gradients_zero and not one.erased for one in found):
        return None
    first = found[0]
    losses = [look.loss for look in first.looks if look.loss is not None]
    if losses and not any(losses) and says_nothing_is_left(job.output):
        return None  # it is right from the start, and the job says so
    stepped = own(first.process, first.last.model.stepped)[:1]
    return blamed(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"All gradients are exactly 0 at each of {len(first.looks)} steps that were looked at: nothing is learnt",
        evidence=[
            Evidence(
                source=f"gradients of {len(first.read_gradients)} parameters at steps "
                f"{', '.join(str(look.step) for look in first.looks)}",
                observed="0 in every number that was sampled",
                expected="other numbers",
            ),
            *(
                (Evidence(source="the loss at these steps", observed=", ".join(f"{one:.6g}" for one in losses)),)
                if losses
                else ()
            ),
        ],
        fix=Fix(
            text="follow the loss back to the model's output: a mask or weight that is all zero, ignored labels, clamp"
        ),
        locations=distinct([job.line(frame) for frame in stepped]),
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.SILENT_WRONG,
    )
