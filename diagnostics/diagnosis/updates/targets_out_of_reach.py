"""A CTC loss leaves out a part of the samples: they have more labels than frames, and zero_infinity makes them 0.

What it does: compares, where a CTC loss is taken of a training, the lengths of inputs and targets. Told where a tenth
of the samples and more have fewer frames than labels, which no alignment fits into.

Why it matters: the loss of such a sample is infinite. `zero_infinity=True` turns it, and its gradient, into 0: the
sample never trains anything, and draws the mean that is logged down. It is meant for a rare broken recording; a model
that makes fewer frames than the texts need (subsampling, stride, pooling) drops the long ones for good.

Bad:

    nn.CTCLoss(zero_infinity=True)(log_probs, labels, frames // 8, lengths)   # 20 frames left for 24 letters

Good:

    keep = frames // 4 >= lengths   # a stride that leaves enough, and what still does not fit is left out and counted
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import TargetsUnreachable

CODE = "D962"
NAME = "targets-out-of-reach"
CLASS = "gradients-lost"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_SHARE = 0.1  # of the samples


def match(job: Job) -> Match | None:
    """Returns the ranks whose CTC loss leaves out many samples."""
    found = [one for one in latest(job, TargetsUnreachable) if one.mark.short >= LEAST_SHARE * one.mark.samples]
    if not found:
        return None
    samples, short = (sum(getattr(one.mark, name) for one in found) for name in ("samples", "short"))
    path = own(found[0].process, found[0].mark.path)[:2]
    at = f" at {job.line(path[0])}" if path else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The CTC loss{at} leaves out {short / samples:.0%} of the samples: they have more labels than frames, "
        "which zero_infinity turns into a loss and a gradient of 0",
        evidence=[
            Evidence(
                source="lengths given to ctc_loss",
                observed=f"{short} of {samples} samples have fewer frames than labels",
                expected="at least as many frames as labels, and one more for each repeated label",
            )
        ],
        fix="give the loss more frames than labels (a smaller stride or less pooling), or leave out what does not fit "
        "where the data is read, and count it",
        places=path,
        confidence=Confidence.CONFIRMED,
    )
