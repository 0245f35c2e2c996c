"""Gradients are cleared between the micro-batches of a step: of its backward passes only the last one counts.

What it does: follows the gradient of one parameter. Where two and more backward passes of one line come before each
step, and the gradient was emptied between them, ten steps and more in a row, `zero_grad()` stands inside of the loop
over micro-batches.

Why it matters: the batch is as many times smaller as there are micro-batches, and where the loss is divided by their
number the step is smaller by it, too; the time for the others is thrown away. Left alone: gradients that the program
puts together itself, weights that move between the passes (SAM), one loss after the other, other optimizers' passes.

Fix: clear the gradients once for each step.

Bad:

    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        (criterion(model(x), y) / 4).backward()
        if i % 4 == 3:
            optimizer.step()

Good:

    for i, (x, y) in enumerate(loader):
        (criterion(model(x), y) / 4).backward()
        if i % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import LostPasses

CODE = "D930"
NAME = "passes-thrown-away"
CLASS = "gradients-lost"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_CLEARS = re.compile(r"\bzero_grad\b|\.grad\s*=\s*None|\.grad(?:\.data)?\.zero_\(|\.grad(?:\.data)?\.fill_\(0")


def match(job: Job) -> Match | None:
    """Returns the optimizer of which only every n-th backward pass counts."""
    found = latest(job, LostPasses, lambda mark: mark.optimizer)
    if not found:
        return None
    first = max(found, key=lambda one: one.mark.run)
    mark, process = first.mark, first.process
    passed, stepped = own(process, mark.backward)[:1], own(process, mark.stepped)[:1]
    clearing = nearest(job, process, _CLEARS, passed)[:2]
    at = f" at {job.line(passed[0])}" if passed else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Each step uses 1 of its {mark.passes} backward passes{at}: the gradients are cleared between them, in "
        f"{mark.run} steps and more",
        evidence=[
            Evidence(
                source=f"gradient of one parameter, in the {mark.run} steps up to step {mark.step}",
                observed=f"{mark.passes} passes before a step, and what each left was gone when the next one began",
                expected="added to by each pass, cleared after the step",
            )
        ],
        fix="call zero_grad() once for each step: right after optimizer.step(), not for each micro-batch",
        places=(*clearing, *passed, *stepped),
        confidence=Confidence.CONFIRMED,
    )
