"""Gradients are not cleared between steps: each step uses the sum of all gradients before it.

What it does: follows the gradient of one parameter of each optimizer. Where what a step used is still there, untouched
and not zero, when the next backward pass adds to it, ten times and more in a row from the first step on, `zero_grad()`
is missing, stands before the loop, or is called on another optimizer or model.

Why it matters: the steps point where the first batches pointed, and grow; the loss falls at first and then stands or
rises. Accumulation over some batches, with a step and a clearing after them, is another thing and left alone.

Bad:

    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()

Good:

    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.training_marks import KeptGradients

CODE = "D901"
NAME = "gradients-never-cleared"
CLASS = "gradients-not-cleared"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_CLEARS = re.compile(r"\bzero_grad\b|\.grad\s*=\s*None|\.grad(?:\.data)?\.zero_\(|\.grad(?:\.data)?\.fill_\(0")


def match(job: Job) -> Match | None:
    """Returns the optimizer whose gradients nothing clears for many steps."""
    found = latest(job, KeptGradients, lambda mark: mark.optimizer)
    if not found:
        return None
    first = max(found, key=lambda one: one.mark.run)
    mark, process = first.mark, first.process
    clearing = lines_like(job, process, _CLEARS)
    if not mark.read and clearing:
        return None  # numbers on a device are not read: `.data.zero_()` leaves no trace there
    stepped, passed = own(process, mark.stepped)[:1], own(process, mark.backward)[:1]
    # The one line that clears gradients is not reached, or clears others.
    places = (*clearing, *stepped, *passed) if len(clearing) == 1 else (*stepped, *passed, *clearing[:2])
    at = f" at {job.line(stepped[0])}" if stepped else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Nothing clears the gradients between the steps{at}: {mark.run} and more in a row used the sum of all "
        "gradients since the first",
        evidence=[
            Evidence(
                source=f"gradient of one parameter, from step {mark.step - mark.run} to step {mark.step}",
                observed="what each step used was there, untouched, when the next backward pass added to it",
                expected="None or 0 by then",
            )
        ],
        fix="call optimizer.zero_grad() in each iteration, before loss.backward() or after optimizer.step()",
        places=places,
        confidence=Confidence.CONFIRMED if mark.read else Confidence.LIKELY,
    )
