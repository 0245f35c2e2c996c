"""Each micro-batch counts the same in a step, whatever number of targets it holds: a target in a small one weighs more.

What it does: reads out of the graph behind each loss how many targets cross entropy took the mean of, over all that it
was not told to ignore, and what the loss is multiplied by. It is told where the micro-batches of one step
give one target four times the weight of another and more, in the median of eight steps, in each look.

Why it matters: the mean of means is not the mean. An answer of two tokens pulls as hard as one of forty: the
model learns short answers, and another number of micro-batches or ranks is another training. Left alone: losses that
are weighted by their number, sums, class weights, steps of one pass.

Fix: take the sum of the losses and divide by the number of targets of all micro-batches of the step (and ranks).
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.marks.object_marks import UnevenPasses

CODE = "D938"
NAME = "tokens-weigh-apart"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.SUCCEEDED

LEAST_RATIO = 4.0
_DIVIDED = re.compile(r"(?<!\w)\w{0,40}loss\w{0,40}\s{0,4}=.{0,120}/|(?<!\w)\w{0,40}loss\w{0,40}\s{0,4}/=?")
_LOSSES = re.compile(r"\b(?:cross_entropy|nll_loss|CrossEntropyLoss|NLLLoss)\(")


def match(job: Job) -> Match | None:
    """Returns the ranks whose targets weigh apart."""
    apart = [
        process
        for process in job.ranks
        if (marks := process.prints.marks_of(UnevenPasses)) and all(one.ratio >= LEAST_RATIO for one in marks)
    ]
    found = [one for one in latest(job, UnevenPasses) if one.process in apart]
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    backward = own(process, mark.backward)[:1]
    divided = nearest(job, process, _DIVIDED, backward)[:1]
    return training_match(
        job,
        apart,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Each of the {mark.passes} micro-batches of a step counts the same, with {mark.least:g} targets or "
        f"{mark.most:g}: a target in the smallest weighs {mark.ratio:.3g} times as much as one in the largest",
        evidence=[
            Evidence(
                source=f"rank {one.process.rank}, 8 steps before step {one.mark.step}, the median one",
                observed=f"{one.mark.least:g} to {one.mark.most:g} targets in a micro-batch, weighed "
                f"{one.mark.ratio:.3g} to 1",
                expected="one weight for each target",
            )
            for one in found[:4]
        ],
        fix="sum the losses (reduction='sum') and divide by the number of targets in all micro-batches of the step, "
        "counted before the first backward()",
        places=(*divided, *lines_like(job, process, _LOSSES)[:1], *backward),
        confidence=Confidence.LIKELY,
    )
