"""An iterator of a loader is gone over again after its end: from the second time on the loop runs zero times.

What it does: notes `for` loops over one iterator of a DataLoader that came to its end before, twice and more. An
iterator, `iter(loader)`, hands its batches over once; a loader begins anew for each loop. Who asks an iterator by
`next()` and sees that it ended is left alone.

Why it matters: from the second epoch on there is no training, or a metric over nothing: 0, NaN, or the one of before.

Bad:

    batches = iter(loader)
    for epoch in range(10):
        for x in batches: ...

Good:

    for epoch in range(10):
        for x in loader: ...
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import Told, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.agent_data import LifecycleEvent

CODE = "D515"
NAME = "iterator-used-up"
CLASS = "loader-empty"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_ITERATOR = re.compile(r"\biter\(")


def match(job: Job) -> Match | None:
    """Returns the ranks that go over an iterator that is used up."""
    found = [
        Told(process, event)
        for process in job.ranks
        if process.agent is not None and (event := process.agent.last_event("loader-spent")) is not None
        if _loop(Told(process, event))
    ]
    if not found:
        return None
    first, (loop, *_) = found[0], _loop(found[0])
    made = nearest(job, first.process, _ITERATOR, (loop,))
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The loop at {job.line(loop)} goes over an iterator that is used up: it ran zero times in "
        f"{first.mark.value} passes and more",
        evidence=[
            Evidence(
                source="loops over one iterator of a DataLoader after its last batch",
                observed=f"{first.mark.value} and more, {first.mark.text}",
                expected="none",
            )
        ],
        fix=f"go over the loader itself at {job.line(loop)}, or make a new iterator before each pass",
        places=(*made[:1], loop) if made else (loop,),
        confidence=Confidence.CONFIRMED,
    )


def _loop(told: Told[LifecycleEvent]) -> tuple[Frame, ...]:
    """Returns the line of the loop, () where a library goes over it."""
    path = told.mark.path
    return path[:1] if own(told.process, path)[:1] == path[:1] else ()
