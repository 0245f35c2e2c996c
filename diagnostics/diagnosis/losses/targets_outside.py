"""Predictions come out of a function that never gives what many of the targets are: a ReLU, and targets below 0.

What it does: reads off the graph what made the predictions of a loss of differences (mse_loss, l1_loss and their like),
and a few of the targets. Told where these are so far outside of what that function can give that a tenth of their
variance and more is out of reach, whatever the weights are.

Why it matters: the error of these samples cannot become smaller than that, and where a ReLU gives 0 they get no
gradient at all. Nothing fails; the loss comes down to about that and stays. It happens where a loop puts an activation
behind the last layer as well, and targets are standardised or signed. Left alone: targets in reach, a few outliers,
noise around the limit, losses that are weighed or masked afterwards.

Bad:

    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]   # behind the last one, too

Good:

    return nn.Sequential(*layers[:-1])

Fix: leave the activation behind the last layer out, or scale the targets into what it gives.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import TargetsOutside

CODE = "D977"
NAME = "targets-outside-of-outputs"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_PART = 0.1  # of the variance of the targets
LEAST_SHARE = 0.05  # of the targets: no few outliers
_WORDS = {
    "ReluBackward0": ("ReLU", re.compile(r"relu", re.IGNORECASE)),
    "SigmoidBackward0": ("sigmoid", re.compile(r"sigmoid", re.IGNORECASE)),
    "TanhBackward0": ("tanh", re.compile(r"tanh", re.IGNORECASE)),
    "SoftmaxBackward0": ("softmax", re.compile(r"softmax", re.IGNORECASE)),
    "SoftplusBackward0": ("softplus", re.compile(r"softplus", re.IGNORECASE)),
    "GeluBackward0": ("GELU", re.compile(r"gelu", re.IGNORECASE)),
    "SiluBackward0": ("SiLU", re.compile(r"silu|swish", re.IGNORECASE)),
    "ExpBackward0": ("exp", re.compile(r"\bexp\(")),
    "AbsBackward0": ("absolute value", re.compile(r"\babs\(")),
    "HardtanhBackward0": ("clamp", re.compile(r"relu6|hardtanh", re.IGNORECASE)),
}


def match(job: Job) -> Match | None:
    """Returns the ranks whose targets are out of reach."""
    found = [one for one in latest(job, TargetsOutside, lambda mark: mark.path[:1]) if _is_far(one)]
    if not found:
        return None
    first = found[0]
    mark, path = first.mark, own(first.process, first.mark.path)
    word, pattern = _WORDS.get(mark.function, (mark.function, None))
    share = mark.outside / mark.numbers
    limits = f"{mark.low:g} and more" if mark.high is None else f"between {mark.low:g} and {mark.high:g}"
    at = f" at {job.line(path[0])}" if path else ""
    lines = nearest(job, first.process, pattern, path[:1]) if pattern is not None else ()
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{share:.0%} of the targets of the loss{at} are out of reach: the predictions come out of a {word}, "
        f"which gives {limits}",
        evidence=[
            Evidence(
                source=f"targets of {mark.calls} calls, {mark.numbers} numbers read",
                observed=f"{mark.outside} that a {word} never gives; a loss of {mark.excess:.3g} on average that "
                f"stays, where the variance of the targets is {mark.variance:.3g}",
                expected=f"targets of {limits}",
            )
        ],
        fix=f"leave the {word} behind the last layer out, or scale the targets into what it gives",
        places=(*lines[:1], *path[:2]),
        confidence=Confidence.LIKELY,
    )


def _is_far(told: Told[TargetsOutside]) -> bool:
    mark = told.mark
    return mark.outside >= LEAST_SHARE * mark.numbers and mark.excess >= LEAST_PART * mark.variance > 0
