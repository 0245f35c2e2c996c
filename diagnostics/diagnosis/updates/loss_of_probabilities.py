"""A loss that takes logits is given probabilities, or one that takes log-probabilities is given something else.

What it does: follows the graph behind the loss at a few backward passes. It is told where a softmax stands straight
before cross_entropy, a sigmoid or softmax before binary_cross_entropy_with_logits, where log_softmax runs over the
batch before nll_loss, and where nll_loss is given what a layer made and comes out below 0. The input of kl_div is
told where a softmax or sigmoid made it, or a layer, with numbers above 0.

Why it matters: cross_entropy takes its own softmax. Of probabilities between 0 and 1 it makes nearly even ones, so that
the loss cannot fall below 1.4 for ten classes and gradients are small; nothing fails, and the model learns slowly and
to a worse end. A loss below 0 has no least value at all; that of kl_div is least where the student is sure of what the
teacher likes best, and not where the two agree. Left alone: whatever changes the numbers in between.

Bad:

    return self.head(x).softmax(-1)     # in forward()
    loss = F.cross_entropy(model(x), y)

Good:

    return self.head(x)                 # softmax where probabilities are wanted
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.marks.loss_marks import LossSquashed

CODE = "D942"
NAME = "loss-of-probabilities"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True
LEAST = 2  # looks

_DIVERGENCE = "kl_div"
_RAW, _LOG, _SOFT = "LayerBackward", "LogSoftmaxBackward0", "SoftmaxBackward0"
_SOFTMAX = re.compile(r"(?<!log_)\bsoftmax\(|\bSoftmax\(")
_SIGMOID = re.compile(r"(?<!logsigmoid)\bsigmoid\(|\bSigmoid\(")
_LOGGED = re.compile(r"\blog_softmax\(|\bLogSoftmax\(")
_LOSS = re.compile(
    r"\b\w*(?:cross_entropy|CrossEntropyLoss|nll_loss|NLLLoss|with_logits|WithLogitsLoss|criterion)\b|loss\w*\("
)


def match(job: Job) -> Match | None:
    """Returns the ranks whose loss is given what it does not take."""
    found = [one for one in latest(job, LossSquashed) if one.mark.run >= LEAST]
    if not found:
        return None
    first = found[0]
    mark, backward = first.mark, own(first.process, first.mark.path)
    title, fix, made = _told(mark)
    lines = _made(job, first.process, made)
    diverges = mark.taken == _DIVERGENCE  # the path is that of its call
    loss = backward[:1] if diverges else nearest(job, first.process, _LOSS, backward)[:1]
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{title}, in {mark.run} looks at its graph",
        evidence=[
            Evidence(
                source="the graph behind the loss: what stands straight before it",
                observed=f"{mark.given}, then {mark.taken}"
                + (f"; loss {mark.loss:g}" if mark.loss is not None else ""),
                expected="log_softmax" if diverges or mark.given == _RAW else "what a layer made",
            )
        ],
        fix=fix,
        places=(*lines, *loss, *backward[:1]) if len(lines) == 1 else (*loss, *lines, *backward[:1]),
        confidence=Confidence.LIKELY,
    )


def _told(mark: LossSquashed) -> tuple[str, str, re.Pattern[str] | None]:
    """Returns the title, the fix, and how the line looks that makes what the loss is given."""
    if mark.taken == _DIVERGENCE:
        made = {_RAW: "what a layer made", _SOFT: "what a softmax made"}.get(mark.given, "what a sigmoid made")
        return (
            f"kl_div takes log-probabilities and is given {made}",
            "give kl_div the log_softmax of the student's outputs as its first argument, and the teacher's "
            "probabilities as its second",
            _SOFTMAX if mark.given == _SOFT else _SIGMOID if mark.given != _RAW else None,
        )
    if mark.given == _RAW:
        return (
            "nll_loss is given what a layer made and comes out below 0: no logarithm of a probability is above 0",
            "use cross_entropy, or log_softmax(dim=1) before nll_loss",
            None,
        )
    if mark.given == _LOG:
        return (
            "log_softmax before nll_loss runs over the batch, not over the classes",
            "write log_softmax(dim=1)",
            _LOGGED,
        )
    word, pattern = ("softmax", _SOFTMAX) if mark.given == _SOFT else ("sigmoid", _SIGMOID)
    takes = "cross_entropy" if mark.taken == _LOG else "binary_cross_entropy_with_logits"
    return (
        f"{takes} takes logits and is given probabilities: a {word} stands straight before it",
        f"give {takes} what the last layer makes, without the {word}",
        pattern,
    )


def _made(job: Job, process: JobProcess, pattern: re.Pattern[str] | None) -> tuple[Frame, ...]:
    return lines_like(job, process, pattern) if pattern is not None else ()
