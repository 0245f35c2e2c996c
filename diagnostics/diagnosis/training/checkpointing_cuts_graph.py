"""Activation checkpointing cuts the graph: parts that are to learn are given nothing that requires a gradient.

What it does: a reentrant checkpoint (`use_reentrant=True`) gives gradients to what is inside of it only where one of
its inputs requires a gradient. Told are parts whose parameters require gradients, are in an optimizer, and have none at
any step that was looked at, where that was so at their checkpoint ten times and more while gradients were computed.

Why it matters: torch warns once, "None of the inputs have requires_grad=True", and the run goes on: behind a frozen
embedding or raw inputs no block learns, only what follows the last checkpoint. The warning in evaluation and for frozen
parts does no harm, and is left alone.

Fix: `use_reentrant=False`; with Transformers `gradient_checkpointing_kwargs={"use_reentrant": False}`, or
`model.enable_input_require_grads()`.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import GraphCut

CODE = "D918"
NAME = "checkpointing-cuts-graph"
CLASS = "zero-progress"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose checkpointed parts get no gradients."""
    found = [one for one in latest(job, GraphCut) if _has_none(one)]
    if not found:
        return None
    first = found[0]
    mark, path = first.mark, own(first.process, first.mark.path)
    more = mark.parameters - 1
    what = mark.names[0] + (f" and {more} more parameter{'s' if more > 1 else ''}" if more else "")
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{what} never get{'' if more else 's'} a gradient: nothing that is given to the reentrant checkpoint"
        f"{f' at {job.line(path[0])}' if path else ''} requires one, in {mark.run} calls and more",
        evidence=[
            Evidence(
                source="inputs of the checkpoint that require a gradient",
                observed="none",
                expected="one or more: else it gives no gradient to what is inside of it",
            )
        ],
        fix="checkpoint with use_reentrant=False, or let its input require a gradient (x.requires_grad_(), with "
        "Transformers model.enable_input_require_grads())",
        places=path[:2],
        confidence=Confidence.CONFIRMED,
    )


def _has_none(told: Told[GraphCut]) -> bool:
    """Whether none of these parameters had a gradient at any step that was looked at."""
    names = set(told.mark.names)
    seen = [
        gradient.why
        for look in told.process.prints.looks
        for name, gradient in zip(look.model.names, look.gradients, strict=True)
        if name in names
    ]
    return bool(seen) and all(why == "none" for why in seen)
