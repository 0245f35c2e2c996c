"""The model is evaluated in train mode: batch norm takes its statistics of the batches it is to be judged by.

What it does: knows where the one model that is trained computes without gradients, five times and more in a row with no
step between them, while it has batch norm in train mode and `eval()` is never called on anything.

Why it matters: what is measured depends on the batch it is measured in, and the running statistics, which are saved
with the model, are mixed with those of the validation set. Left alone: statistics computed anew on purpose
(`update_bn`), jobs with several optimizers, models that take part in the loss without gradients.

Fix: `model.eval()` before the evaluation and `model.train()` after it.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import EvaluatedInTrain

CODE = "D903"
NAME = "evaluated-in-train-mode"
CLASS = "wrong-mode"
EXAMINES = AppliesTo.SUCCEEDED
ENOUGH = 10  # steps: fewer are a trial


def match(job: Job) -> Match | None:
    """Returns the model that was never in eval mode where it was evaluated."""
    found = [one for one in latest(job, EvaluatedInTrain) if one.mark.optimizers == 1 and one.mark.trained >= ENOUGH]
    if not found:
        return None
    first = found[0]
    mark, path = first.mark, own(first.process, first.mark.path)[:2]
    at = f" at {job.line(path[0])}" if path else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.root} is evaluated in train mode{at}: {mark.module} takes its statistics of the batches it is "
        "to be judged by, and eval() is never called",
        evidence=[
            Evidence(
                source=f"{mark.root}: passes without gradients in train mode, five and more in a row",
                observed=f"{mark.runs} times, after {mark.trained} steps in all; calls of eval(): 0",
                expected="in eval mode",
            )
        ],
        fix="call model.eval() before the evaluation and model.train() after it",
        places=path,
        confidence=Confidence.LIKELY,
    )
