"""The loss scaler skips every step: the gradients are not finite however small the scale becomes.

What it does: counts calls of `GradScaler.step` that make no step of the optimizer. A scale that is too large is halved
a few times at the start, and that is how it is meant; 25 skips in a row, up to the end, are not overflow of a scaled
loss but gradients that are NaN or infinite by themselves.

Why it matters: the loss is printed, backward passes run, and the weights stay what they were.

Fix: find the NaN with the scaler disabled (`GradScaler(enabled=False)`) and
`torch.autograd.set_detect_anomaly(True)`: masked softmax over nothing, square root at 0, a value beyond float16.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import LossLeftOut, ScalerSkips

CODE = "D907"
NAME = "scaler-skips-for-ever"
CLASS = "zero-progress"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose scaler lets no step through."""
    found = [one for one in latest(job, ScalerSkips) if one.process.steps <= one.mark.steps]
    if not found or any(one.process.prints.marks_of(LossLeftOut) for one in found):
        return None  # the loss itself is not finite: that says more
    first = found[0]
    mark, path = first.mark, own(first.process, first.mark.path)[:1]
    at = f" at {job.line(path[0])}" if path else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The loss scaler{at} skipped {mark.run} and more steps in a row, after {mark.steps} that were made: the "
        "gradients are not finite whatever the scale",
        evidence=[
            Evidence(
                source="calls of GradScaler.step, and steps of the optimizer",
                observed=f"{mark.run} in a row, 0",
                expected="a few skips at the start",
            )
        ],
        fix="find where the gradients become NaN with GradScaler(enabled=False) and "
        "torch.autograd.set_detect_anomaly(True)",
        places=path,
        confidence=Confidence.CONFIRMED,
    )
