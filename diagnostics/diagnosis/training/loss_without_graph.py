"""A backward pass begins at a tensor that no model computed, so nothing gets a gradient.

What it does: looks at what each backward pass begins at. Where all of them begin at a tensor without a graph, made anew
with `requires_grad=True`, they end where they begin. Usually the loss was taken apart by `.item()`, `.data`, NumPy or
`torch.tensor(...)`, and `requires_grad=True` was added to silence the error that followed.

Why it matters: the loss is printed, steps are made, and no parameter changes.

Bad:

    loss = torch.tensor(criterion(model(x), y).item(), requires_grad=True)

Good:

    loss = criterion(model(x), y)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import LeafLosses

CODE = "D908"
NAME = "loss-without-graph"
CLASS = "zero-progress"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_MADE_ANEW = re.compile(r"requires_grad(?:\s*=\s*True|_\()|\bVariable\(")


def match(job: Job) -> Match | None:
    """Returns the ranks whose backward passes begin at nothing."""
    found = [one for one in latest(job, LeafLosses) if one.mark.run == one.mark.backwards and one.process.steps]
    if not found:
        return None
    first = found[0]
    path = own(first.process, first.mark.path)[:1]
    made = nearest(job, first.process, _MADE_ANEW, path)[:1]
    at = f" at {job.line(path[0])}" if path else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"backward(){at} is called on a tensor that no model computed: no parameter gets a gradient",
        evidence=[
            Evidence(
                source="backward passes, and those of them that began at a tensor without a graph",
                observed=f"{first.mark.backwards}, {first.mark.run}",
                expected="none without a graph",
            )
        ],
        fix="call backward() on what the model and the loss returned, without .item(), .data, numpy() or "
        "torch.tensor(...) between",
        places=(*made, *path),
        confidence=Confidence.CONFIRMED,
    )
