"""A term of the loss is a number: nothing is learnt from it.

What it does: follows the graph behind the loss at a few backward passes. It is told where the loss is a sum of which
one term has no graph, a variable beside it holds another loss whose graph is not in that sum, and a line adds the
number of this variable: `.item()`, `float()`, `.numpy()`.

Why it matters: the value of the loss is right, in every log and curve, and its gradient is that of the other terms
alone: an auxiliary or regularising loss does nothing. Nothing fails. Left alone: `.detach()`, which says what it does;
numbers that are only summed up for a log; losses of other models and optimizers. Not seen: a sum that a function makes
and returns, since its variables are gone by then.

Fix: add the tensor itself, and take the number where it is logged.

Bad:

    loss = reconstruction + 0.25 * commitment.item()

Good:

    loss = reconstruction + 0.25 * commitment
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.dynamic.steps.constant_terms import AddedNumber, added_numbers
from diagnostics.record.marks.loss_marks import LossConstant

CODE = "D949"
NAME = "loss-term-constant"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True
LEAST = 2  # looks


def match(job: Job) -> Match | None:
    """Returns the ranks whose loss has such a term."""
    told = [one for one in latest(job, LossConstant) if one.mark.run >= LEAST]
    if not told:
        return None
    process, mark = told[0].process, told[0].mark
    backward = own(process, mark.path)[:1]
    added = _nearest(added_numbers(job, process, mark.names.split()), backward)
    if not added:
        return None
    first = added[0]
    return training_match(
        job,
        [one.process for one in told],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Nothing is learnt from {first.name}: at {job.line(first.frame)} its number is added to {first.target}, "
        "and no gradient comes back through a number",
        evidence=[
            Evidence(
                source=f"the graph behind the loss, {mark.run} looks",
                observed=f"a term without a gradient; {first.name} has a graph that is not in it",
                expected=f"{first.name} as a part of the graph",
            )
        ],
        fix=f"add {first.name} itself, not its number, and take .item() where it is logged",
        places=(*(one.frame for one in added[:2]), *backward),
        confidence=Confidence.LIKELY,
    )


def _nearest(added: Sequence[AddedNumber], backward: Sequence[Frame]) -> list[AddedNumber]:
    """Returns those in the file of the backward pass first, the nearest to it first."""
    file, line = (backward[0].file, backward[0].line) if backward else ("", 0)
    return sorted(added, key=lambda one: (one.frame.file != file, abs(one.frame.line - line)))
