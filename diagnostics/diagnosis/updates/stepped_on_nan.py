"""Steps are made on a loss that is NaN, and the weights stay finite: something makes numbers of what came of it.

What it does: counts the steps whose backward pass began at NaN, 32 in a row and more, and looks which variables of the
function that called backward() hold NaN then. The first of them in the order of that function is where to look. Where
the weights are NaN as well, D529 tells it.

Why it matters: `nan_to_num` on gradients was to save one bad batch. Where the loss is NaN for good it gives zeros in
each step: the rank learns nothing, and under averaging only shrinks what the others learnt.

Fix: mend what makes NaN: log, division or square root of 0, the standard deviation of one number; let the guard count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.not_finite import not_finite
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import NanSteps

CODE = "D950"
NAME = "stepped-on-nan"
CLASS = "nan-on-rank"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_GUARD = re.compile(r"nan_to_num")


def match(job: Job) -> Match | None:
    """Returns the ranks that step on NaN."""
    found = latest(job, NanSteps)
    if not found or not_finite(job):
        return None
    process, mark = found[0].process, found[0].mark
    path = own(process, mark.path)[:2]
    guard = nearest(job, process, _GUARD, path)[:1]
    first = next(_first_nan(job, mark, path[0]), None) if path else None
    at = f" at {job.line(path[0])}" if path else ""
    begins = f"; {first[0]} is the first variable there to hold NaN" if first is not None else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"backward(){at} began at a loss of NaN in {mark.run} steps in a row, up to step {mark.step}, and each "
        f"step was made{begins}",
        evidence=[
            Evidence(
                source="losses at backward() and steps",
                observed="\n".join(f"rank {one.process.rank}  NaN in {one.mark.run} in a row" for one in found[:8]),
                expected="a finite number",
            ),
            *([Evidence(source="variables there that hold NaN", observed=mark.names)] if mark.names else []),
        ],
        fix="mend what makes NaN (log, division or square root of 0; std() of one number)"
        + (f" at {job.line(first[1])}" if first is not None else "")
        + "; what makes numbers of it again is to count, and to end the run after a few in a row",
        places=(*((first[1],) if first is not None else ()), *guard, *path),
        confidence=Confidence.CONFIRMED,
    )


def _first_nan(job: Job, mark: NanSteps, called: Frame) -> Iterator[tuple[str, Frame]]:
    """Yields the variables that hold NaN with where they are set, in the order of the function."""
    source = job.sources.file(called.file)
    function = source.function_at(called.line)
    names = mark.names.split()
    statements = [one for one in ast.walk(function) if isinstance(one, ast.Assign)] if function is not None else []
    for node in sorted(statements, key=lambda one: one.lineno):
        set_here = [one.id for each in node.targets for one in ast.walk(each) if isinstance(one, ast.Name)]
        for name in set_here if node.lineno <= called.line else ():
            if name in names:
                yield name, Frame(file=called.file, line=node.lineno, function=called.function)
