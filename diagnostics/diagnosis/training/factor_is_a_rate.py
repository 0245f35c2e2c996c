"""A LambdaLR was given learning rates where it takes factors: the rate is the square of the one that was meant.

What it does: LambdaLR multiplies the optimizer's rate by what the function returns. Where the highest rate of the run
is just the given one times itself, and was left behind for lower ones, the function returns rates: 0.001 times 0.001.

Why it matters: the loss falls a little, as it does at a rate a thousand times too small, and nothing fails. Left alone:
rates above 0.05, which may be factors too; schedules that were resumed or follow others; warm-ups that have not come to
their top; groups with different factors.

Fix: return a factor, or set the optimizer's own rate to 1.

Bad:

    optimizer = SGD(net.parameters(), lr=0.01)
    schedule = LambdaLR(optimizer, lambda epoch: 0.01 * 0.95**epoch)

Good:

    schedule = LambdaLR(optimizer, lambda epoch: 0.95**epoch)
"""

from __future__ import annotations

from math import isclose

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import RateSquared

CODE = "D922"
NAME = "factor-is-a-rate"
CLASS = "wrong-schedule"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose rate is a product of rates."""
    found = [
        one
        for one in latest(job, RateSquared, lambda mark: mark.optimizer)
        if isclose(one.mark.peak, one.mark.base**2, rel_tol=1e-6)
    ]
    if not found:
        return None
    mark, made = found[0].mark, own(found[0].process, found[0].mark.made)[:1]
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The learning rate is {mark.peak:g} at most, where the optimizer was given {mark.base:g}: the function "
        f"of LambdaLR{f' at {job.line(made[0])}' if made else ''} returns rates, and they are multiplied by the rate",
        evidence=[
            Evidence(
                source=f"highest learning rate of {mark.step} steps",
                observed=f"{mark.peak:g}, which is {mark.base:g} times {mark.base:g}; now {mark.rate:g}",
                expected=f"{mark.base:g}",
            )
        ],
        fix="return a factor from the function, 1 for the rate that the optimizer was given, or give the optimizer "
        "lr=1",
        places=made,
        confidence=Confidence.LIKELY,
    )
