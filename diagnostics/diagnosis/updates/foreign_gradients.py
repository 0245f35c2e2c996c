"""An optimizer steps on the sum of its own gradients and of those that another one's pass left behind.

What it does: watches one parameter of each optimizer. Where another optimizer made its step after a backward pass that
went through this one's parameters, too, nobody cleared what that left, and the step of this one adds it to the gradient
of its own pass, ten times and more in a row, and the two point against each other in most of the latest, the step works
against what it is there for: a generator's pass through the discriminator, an actor's through the critic.

Why it matters: the discriminator learns to be deceived while it learns to tell; both losses stand where they began.
Left alone: passes of one line that add up, and sums of losses that do not work against each other. Gradients on a
device are not read.

Fix: clear an optimizer's gradients right before the backward pass of its own, not only after its step.

Bad:

    loss_g.backward(); opt_g.step(); opt_g.zero_grad()
    loss_d.backward(); opt_d.step(); opt_d.zero_grad()

Good:

    opt_g.zero_grad(); loss_g.backward(); opt_g.step()
    opt_d.zero_grad(); loss_d.backward(); opt_d.step()
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import ForeignGradients

CODE = "D951"
NAME = "foreign-gradients"
CLASS = "gradients-not-cleared"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True
OPPOSED = 0.8  # of the steps: losses that are meant to add up do not fight in so many
LEAST_RUN = 40  # of as many steps as 20 since the mark before chance gives that share one time in a hundred

_CLEARS = re.compile(r"\bzero_grad\b|\.grad\s*=\s*None")


def match(job: Job) -> Match | None:
    """Returns the optimizer that steps on what another one's pass left."""
    found = [
        one
        for one in latest(job, ForeignGradients, lambda mark: mark.optimizer)
        if one.mark.run >= LEAST_RUN and one.mark.opposed >= OPPOSED * one.mark.lately
    ]
    if not found:
        return None
    first = max(found, key=lambda one: one.mark.run)
    mark, process = first.mark, first.process
    passed, left, stepped = (own(process, path) for path in (mark.passed_at, mark.left_at, mark.path))
    clearing = nearest(job, process, _CLEARS, stepped[:1])[:1]
    at, by = (f" at {job.line(path[0])}" if path else "" for path in (_apart(left, passed), _apart(passed, left)))
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Gradients that another optimizer's pass{at} left are not cleared before the pass{by}: the step after "
        f"it uses the sum of both, in at least {mark.run} steps in a row",
        evidence=[
            Evidence(
                source=f"gradient of one parameter, in the {mark.lately} steps up to step {mark.step}",
                observed="what the other pass left was there when the own one began; they pointed against each other "
                f"in {mark.opposed} of the last {mark.lately}",
                expected="None or 0 by then",
            )
        ],
        fix="call zero_grad() of the optimizer right before the backward pass of its own loss, or keep the other loss "
        "from its parameters (requires_grad_(False) while that one is computed)",
        places=(*clearing, *passed[:1], *_apart(passed, left)[:1], *_apart(left, passed)[:1], *stepped[:1]),
        confidence=Confidence.LIKELY,
    )


def _apart(path: tuple[Frame, ...], other: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Returns a path from its innermost frame on that the other one does not have: one line may make both passes."""
    first = next((at for at, one in enumerate(path) if one not in other), 0)
    return path[first:]
