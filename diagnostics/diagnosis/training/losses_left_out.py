"""The loss is NaN or infinite for good, and a guard leaves out every batch: no step is made any more.

What it does: counts forward passes in train mode that no backward pass follows, and backward passes at a loss that is
no finite number with no step after them. Where eight and more in a row lead nowhere, up to the end, and the variable
that holds the loss says that it is NaN, the guard that was to skip one bad batch skips them all. One of these passes is
looked at module by module: which output was not finite first, and what that module was given.

Why it matters: the run goes on to its end and says success; the model is the one of the step before.

Fix: look for the cause where it is named (log, division or square root of 0, data that hold NaN, weights that are NaN);
let the guard count, and end the run after a few batches in a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, backwards_of, latest, nearest, runs_on, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import FirstNotFinite, LossLeftOut, TensorRange

CODE = "D906"
NAME = "losses-left-out"
CLASS = "nan-on-rank"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True
LONG = 16  # passes in a row: a job that runs may yet get over them

_ASKS = re.compile(r"\b(?:if|while|assert)\b.*(?:isfinite|isnan|isinf|nan_to_num)")
_GUARD = re.compile(r"\b(?:if|while|assert)\b.*(?:!=\s*\w*loss|\bnan\b)", re.IGNORECASE)


def match(job: Job) -> Match | None:
    """Returns the ranks whose losses lead nowhere any more."""
    found = [one for one in latest(job, LossLeftOut) if _lasts(one, runs_on(job))]
    if not found:
        return None
    first = min(found, key=lambda one: one.mark.step)
    mark, process = first.mark, first.process
    asked = [one for one in process.prints.marks_of(LossLeftOut) if one.guard]
    path = own(process, (asked[-1] if asked else mark).path)[:1]
    guards = () if asked else (nearest(job, process, _ASKS, path) or nearest(job, process, _GUARD, path))[:1]
    looked = [one for one in process.prints.marks_of(FirstNotFinite) if one.step >= mark.step]
    origin = looked[0] if looked else None
    module = origin.module if origin is not None and origin.module is not None else ""
    shown = f"{origin.class_name} {module}".strip() if origin is not None and origin.module is not None else ""
    where = f" (first in the output of {shown})" if shown else ""
    passed = "forward passes led to no backward pass" if mark.name else "backward passes led to no step"
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The loss is {mark.loss:g} after {mark.step} steps and for good{where}: {mark.run} and more {passed}, "
        "and the job went on",
        evidence=[
            Evidence(
                source=f"passes in a row, {mark.name or 'the loss at backward()'} at the last of them",
                observed=f"{mark.run}, {mark.loss:g}",
                expected="a finite number, and a step",
            ),
            *_origin(origin),
        ],
        fix="mend what makes the loss NaN: " + _cause(origin) + "; end the run where several batches in a row are "
        "left out",
        places=(*guards, *path),
        confidence=Confidence.CONFIRMED,
        module=module,
    )


def _lasts(told: Told[LossLeftOut], running: bool) -> bool:
    """Whether nothing came after it but more of the same."""
    mark, process = told.mark, told.process
    if running and mark.run < LONG:
        return False
    if mark.name:
        return backwards_of(process) <= mark.backwards
    return process.steps <= mark.step and backwards_of(process) <= mark.backwards + mark.run


def _origin(origin: FirstNotFinite | None) -> tuple[Evidence, ...]:
    """Returns what was seen in the one pass that was looked at."""
    if origin is None:
        return ()
    if origin.module is None:
        observed = f"the outputs of {origin.modules} modules were finite, the last one {_ranges(origin.outputs)}"
        return (Evidence(source="one of these passes, module by module", observed=observed),)
    rows = [
        f"input   {_ranges(origin.inputs) or 'not read'}",
        f"output  {_ranges(origin.outputs)}",
        f"weights {'finite' if origin.weights_finite else 'not finite'}",
    ]
    name = f"{origin.module} ({origin.class_name})" if origin.module else origin.class_name
    return (
        Evidence(
            source=f"one of these passes: {name} is the first with an output not finite", observed="\n".join(rows)
        ),
    )


def _cause(origin: FirstNotFinite | None) -> str:
    if origin is None:
        return "log, division or square root of 0, or data that hold NaN"
    if origin.module is None:
        return "all modules gave finite numbers, so it begins in the loss: log, division or square root of 0"
    if not origin.weights_finite:
        return f"the weights of {origin.class_name} are not finite"
    if any(one.bad for one in origin.inputs):
        return f"{origin.class_name} is given NaN: see the batch, or what is computed before it"
    return f"{origin.class_name} makes it of finite numbers"


def _ranges(tensors: Sequence[TensorRange]) -> str:
    return ", ".join(
        f"{one.shape} from {one.least:.6g} to {one.most:.6g}"
        + (f", {one.bad} of {one.read} not finite" if one.bad else "")
        if one.least is not None and one.most is not None
        else f"{one.shape}, none of {one.read} finite"
        for one in tensors
    )
