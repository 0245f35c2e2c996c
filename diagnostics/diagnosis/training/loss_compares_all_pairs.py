"""The loss compares each prediction with each target: (32, 1) against (32,) gives (32, 32).

What it does: follows the graph behind the loss at a few backward passes. Where what a layer gave as one column (or one
column of it, as gather() picks it) is spread to a square as large as the batch by a difference (`-`, mse_loss, l1_loss,
smooth_l1_loss, huber_loss) or a product with a row, the targets were one row. torch warns of some of these itself. So
it is where terms of shape (32,), as log-probabilities are, are multiplied by (32, 1), or by what a row minus a column
gave: an advantage of (32, 32).

Why it matters: each prediction is pulled to all targets of the batch, and the model learns their mean. The loss falls
to the variance of the targets and stays there. Left alone: pairs that the program asks for itself (`x[:, None]`,
expand, softmax over a row), losses that hold predictions against each other (ranking, energy distances).

Bad:

    loss = F.mse_loss(model(x), y)                # (32, 1) and (32,)

Good:

    loss = F.mse_loss(model(x).squeeze(1), y)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.training.compared_lines import MULTIPLIED, compared_at, warned_at, weighed_at
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import LossSpread

CODE = "D919"
NAME = "loss-compares-all-pairs"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True
LEAST = 2  # looks; one and torch's own warning

_CALLED = re.compile(r"\bloss\w*\s*=(?!=)|\b\w*(?:criterion|loss)\w*\(")


def match(job: Job) -> Match | None:
    """Returns the ranks whose loss compares all pairs."""
    found = [one for one in latest(job, LossSpread) if one.mark.run >= LEAST or warned_at(one.process)]
    if not found:
        return None
    first = found[0]
    mark, backward = first.mark, own(first.process, first.mark.path)
    given, made = (", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") for shape in (mark.given, mark.made))
    warned = next((at for one in found for at in own(one.process, warned_at(one.process))), None)
    weighed = mark.function in MULTIPLIED and len(mark.given) == 1
    computed = (warned,) if warned is not None else compared_at(job, first.process, mark.function, backward)[:1]
    computed = (weighed_at(job, first.process, backward) if weighed else ()) or computed
    called = nearest(job, first.process, _CALLED, backward)
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The loss weighs each sample with the weights of all samples of the batch: terms of shape ({given}) are "
        f"spread to ({made}) by a product, in {mark.run} look{'s' * (mark.run > 1)} at its graph"
        if weighed
        else f"The loss compares each prediction with each target of the batch: predictions of shape ({given}) are "
        f"spread to ({made}), in {mark.run} look{'s' * (mark.run > 1)} at its graph",
        evidence=[
            Evidence(
                source="the graph behind the loss: what was computed of each sample, and what it became",
                observed=f"({given}) and ({made})",
                expected=f"({given}) twice",
            ),
            *(
                [Evidence(source="torch's own warning", observed=job.line(warned), expected="none")]
                if warned is not None
                else []
            ),
        ],
        fix="give both sides one shape before they are subtracted or multiplied: returns - values.squeeze(1), which "
        "has one weight for each term"
        if weighed
        else "give predictions and targets one shape before they are compared: prediction.squeeze(1), or "
        "target.unsqueeze(1)",
        places=(*computed, *called[:1], *backward[:1]),
        confidence=Confidence.LIKELY,
    )
