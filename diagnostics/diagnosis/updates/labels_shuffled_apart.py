"""Samples and labels are shuffled one after the other, each into an order of its own.

What it does: reads the files that ran. It is told where one function draws an order for an array and another one for
its labels, from one random state, and the program uses both together afterwards.

Why it matters: each label belongs to another sample. The loss falls, since a model can learn by heart; what is held
out stays at chance, and nothing says why. Left alone: one order for both, orders that begin at one seed, two sets that
are shuffled apart and are no pairs, labels alone that are shuffled for a test.

Fix: draw one order and use it for both: `order = rng.permutation(len(x)); x, y = x[order], y[order]`.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.shuffled_pairs import shuffled_pairs

CODE = "D939"
NAME = "labels-shuffled-apart"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.SUCCEEDED

LEAST_STEPS = 10


def match(job: Job) -> Match | None:
    """Returns the ranks whose samples have the labels of others."""
    trained = [process for process in job.ranks if process.steps >= LEAST_STEPS]
    found = shuffled_pairs(job, trained[0]) if trained else None
    if found is None:
        return None
    (samples, labels), frames = found
    lines = " and ".join(dict.fromkeys(job.line(frame) for frame in frames))
    return training_match(
        job,
        trained,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{samples} and {labels} are each shuffled into an order of their own at {lines}: a label belongs to "
        "another sample",
        evidence=[],
        fix=f"draw one order and use it for both: order = ...permutation(len({samples})), {samples}[order], "
        f"{labels}[order]",
        places=tuple(sorted(frames, key=lambda one: one.line, reverse=True)),
        confidence=Confidence.LIKELY,
    )
