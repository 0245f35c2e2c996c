"""A recurrent cell is given its own state without the graph, at each step of a sequence: it cannot learn to remember.

What it does: looks, now and then, at all calls of recurrent cells between two backward passes. Told where each call is
given what the cell gave in the call before, by its numbers, and never with its graph.

Why it matters: the gradient reaches the last step alone. The cell learns what it can read off the input of that step;
that something of an earlier one is worth keeping, no gradient tells it. Nothing fails: the loss comes down to that of a
guess. detach() belongs between two chunks, behind the backward pass of the first. Left alone: states that are cut once
in several steps, layers that go over several steps in a call, passes after each step, rollouts without gradients.

Bad:

    for t in range(x.size(1)):
        state = self.cell(x[:, t], state.detach())

Good:

    state = state.detach()      # once a chunk
    for t in range(x.size(1)):
        state = self.cell(x[:, t], state)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own, text_of
from diagnostics.record.marks.loss_marks import StateCut

CODE = "D979"
NAME = "state-cut-each-step"
CLASS = "gradients-lost"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST = 2  # looks
_CUT = re.compile(r"\.detach_?\(|\.data\b")


def match(job: Job) -> Match | None:
    """Returns the ranks whose cell forgets."""
    found = [one for one in latest(job, StateCut, lambda mark: mark.path[:1]) if one.mark.run >= LEAST]
    if not found:
        return None
    first = found[0]
    mark, path = first.mark, own(first.process, first.mark.path)[:1]
    cut: tuple[Frame, ...] = ()
    if path and not _CUT.search(text_of(job, path[0])):
        cut = nearest(job, first.process, _CUT, path)[:1]
    at = f" of {job.line(path[0])}" if path else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The {mark.cell}{at} is given its own state without the graph at each of {mark.calls} steps: the "
        "gradient reaches the last step alone, and nothing teaches it to remember",
        evidence=[
            Evidence(
                source=f"calls between two backward passes, {mark.run} looks",
                observed=f"{mark.calls} of {mark.calls} with the state of the call before, cut off from its graph",
                expected="the graph through all steps of a sequence, or of a chunk",
            )
        ],
        fix="hand the state on as it is, and detach() it once, between two chunks, behind the backward pass",
        places=(*path, *cut),
        confidence=Confidence.LIKELY,
    )
