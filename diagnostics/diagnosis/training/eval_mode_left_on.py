"""The model is trained in eval mode, since `eval()` was called for a validation and nobody called `train()` again.

What it does: knows of each optimizer step in which mode the forward passes before it ran. Where an optimizer made steps
in train mode, and from some step on ten and more in a row with every module of the model in eval mode, dropout is off
and batch norm uses statistics that stand still, for the rest of the run.

Why it matters: the model is no longer regularised and its statistics are those of the first epoch: it fits the training
set and fails elsewhere, which the dashboard shows as overfitting. Left alone: single layers in eval mode, models that
are trained in eval mode from the start, another optimizer for a second phase.

Fix: call `model.train()` at the beginning of each epoch, not once before the loop.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import EvalModeLeft

CODE = "D902"
NAME = "eval-mode-left-on"
CLASS = "wrong-mode"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_EVALUATES = re.compile(r"\.eval\(\)|\.train\((?:mode\s*=\s*)?False\)")


def match(job: Job) -> Match | None:
    """Returns the model that is trained in eval mode."""
    # A mark is written at 10, 20, 40 ... steps: where there were many more steps after it, the mode was taken back.
    found = [one for one in latest(job, EvalModeLeft) if one.process.steps <= one.mark.step + one.mark.run]
    if not found:
        return None
    first = found[0]
    mark, process = first.mark, first.process
    evaluating = own(process, mark.evaluating)[:1]
    stepped = own(process, mark.stepped)[:1]
    evaluating = evaluating or nearest(job, process, _EVALUATES, stepped)[:1]
    at = f" ({job.line(evaluating[0])})" if evaluating else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.root} is trained in eval mode from step {mark.step - mark.run + 1} on: eval() was called{at} and "
        "train() was not called again",
        evidence=[
            Evidence(
                source="optimizer steps by the mode of the forward passes before them",
                observed=f"{mark.trained} in train mode, then {mark.run} and more in a row with every module in eval "
                f"mode, {mark.module} among them",
                expected="all in train mode",
            )
        ],
        fix="call model.train() at the beginning of each epoch, or right after the validation",
        places=(*evaluating, *stepped, *own(process, mark.evaluating)[1:3]),
        confidence=Confidence.LIKELY,
    )
