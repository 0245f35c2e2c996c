"""Gradients are there after the backward pass and gone, or exactly zero, when the optimizer makes its step.

What it does: looks at the gradients right after the backward pass and again at the step, at a few steps. Where there
are some and all of them are None or zero at each step, something between them erases them: `zero_grad()` behind
`backward()`.

Why it matters: each step uses nothing. The loss is printed, and the model does not learn.

Bad:

    loss.backward()
    optimizer.zero_grad()
    optimizer.step()

Good:

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

from __future__ import annotations

import re

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.learning import lessons
from diagnostics.dynamic.replicas.source_lines import lines_like, own

CODE = "D527"
NAME = "gradients-erased"
CLASS = "zero-progress"
EXAMINES = AppliesTo.SUCCEEDED

_ZEROED = re.compile(r"\.zero_grad\(|\.grad\s*=\s*None|\.grad\.zero_\(")


def match(job: Job) -> Match | None:
    """Returns the job whose gradients never reach a step, on every rank."""
    found = lessons(job)
    if not found or not all(one.erased for one in found):
        return None
    first = found[0]
    zeroed = lines_like(job, first.process, _ZEROED)[:2]
    stepped = own(first.process, first.last.model.stepped)[:1]
    graded = max(look.graded or 0 for look in first.looks)
    at = f" ({job.line(zeroed[0])})" if zeroed else ""
    return blamed(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The gradients are erased between the backward pass and the optimizer's step{at}: no step uses any",
        evidence=[
            Evidence(
                source="parameters with a gradient other than zero",
                observed=f"{graded} right after the backward pass, 0 at the step, "
                f"at steps {', '.join(str(look.step) for look in first.looks[1:])}",
                expected="as many at the step",
            )
        ],
        fix=Fix(text="zero_grad() before loss.backward(), or after optimizer.step()"),
        locations=distinct([job.line(frame) for frame in (*zeroed, *stepped)]),
        confidence=Confidence.CONFIRMED,
        outcome=JobOutcome.SILENT_WRONG,
    )
