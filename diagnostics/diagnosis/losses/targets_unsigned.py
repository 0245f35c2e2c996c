"""A loss whose targets are to be 1 and -1 is given 1 and 0: half of what it is to learn from counts for nothing.

What it does: reads the targets that cosine_embedding_loss, margin_ranking_loss, hinge_embedding_loss and
soft_margin_loss are given in a training. Told where they are 1 and 0 alone, and never -1.

Why it matters: these losses ask for no target by name: what is neither 1 nor -1 adds 0, or a constant, and no gradient.
Pairs that belong apart are never pushed apart, so that all embeddings fall into one point while the loss goes to 0.
Nothing fails. Left alone: targets with a -1 among them, where 0 may leave a pair out; targets that are all 1.

Bad:

    nn.CosineEmbeddingLoss()(users, items, clicked.float())

Good:

    nn.CosineEmbeddingLoss()(users, items, clicked.float() * 2 - 1)

Fix: give -1 where the target is 0.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import TargetsUnsigned

CODE = "D966"
NAME = "targets-without-sign"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_SHARE = 0.01  # of the targets


def match(job: Job) -> Match | None:
    """Returns the ranks whose targets have no -1."""
    found = [
        one
        for one in latest(job, TargetsUnsigned, lambda mark: mark.function)
        if one.mark.zeros >= LEAST_SHARE * one.mark.numbers
    ]
    if not found:
        return None
    mark, path = found[0].mark, own(found[0].process, found[0].mark.path)[:2]
    at = f" at {job.line(path[0])}" if path else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.function}{at} is given 1 and 0 where it knows 1 and -1: {mark.zeros / mark.numbers:.0%} of the "
        "targets give no gradient",
        evidence=[
            Evidence(
                source=f"targets of {mark.calls} calls",
                observed=f"{mark.numbers - mark.zeros} times 1, {mark.zeros} times 0, no -1",
                expected="1 and -1",
            )
        ],
        fix="give -1 where the target is 0: target * 2 - 1",
        places=path,
        confidence=Confidence.LIKELY,
    )
