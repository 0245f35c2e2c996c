"""A part of the model that was frozen at first is unfrozen later, and is in no optimizer: it gets gradients in vain.

What it does: knows a few of the parameters that were frozen when the training began. Told where one of them requires a
gradient by a later step, ten backward passes and more write it, nothing ever changes the parameter, and no optimizer
that lives holds it.

Why it matters: the optimizer was made of what was trainable then, `filter(lambda p: p.requires_grad, ...)`. Unfreezing
costs the backward pass of all layers from then on, and trains none of them: the run goes on as with a frozen backbone.
Nothing fails. Left alone: parameters that an optimizer holds, that are moved by hand, or frozen again soon after.

Bad:

    optimizer = AdamW(filter(lambda p: p.requires_grad, model.parameters()))
    ...
    model.backbone.requires_grad_(True)      # at epoch 5

Good:

    model.backbone.requires_grad_(True)
    optimizer.add_param_group({"params": model.backbone.parameters(), "lr": 1e-5})

Fix: add the group when it is unfrozen, or make the optimizer of all parameters: those without a gradient are skipped.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import UnfrozenUnheld
from diagnostics.record.parameter_prints import OptimizedModel

CODE = "D975"
NAME = "unfrozen-in-no-optimizer"
CLASS = "zero-progress"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_THAWED = re.compile(r"requires_grad_\((?:True)?\)|\.requires_grad\s{0,4}=\s{0,4}True|\bun_?freeze\w{0,40}\(")


def match(job: Job) -> Match | None:
    """Returns the ranks that unfroze parameters in vain."""
    found = latest(job, UnfrozenUnheld, lambda mark: mark.optimizer)
    if not found:
        return None
    first = found[0]
    mark, model = first.mark, _model(first)
    made = own(first.process, model.made)[:1] if model is not None else ()
    stepped = own(first.process, mark.path)[:1]
    at = f" of {job.line(made[0])}" if made else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.name} and others were unfrozen before step {mark.since} and never change: the optimizer{at} was "
        "made while they were frozen, and no optimizer holds them",
        evidence=[
            Evidence(
                source=f"{mark.name}, steps {mark.since} to {mark.step}",
                observed=f"its gradient was computed in {mark.run} steps in a row, and it stayed as it was",
                expected="another value after each step",
            )
        ],
        fix="optimizer.add_param_group(...) where they are unfrozen, or make the optimizer of all parameters: it "
        "skips those without a gradient",
        places=(*made, *nearest(job, first.process, _THAWED, stepped)[:2], *stepped),
        confidence=Confidence.LIKELY,
    )


def _model(told: Told[UnfrozenUnheld]) -> OptimizedModel | None:
    return next((one.model for one in told.process.prints.looks if one.model.optimizer == told.mark.optimizer), None)
