"""A backward pass goes back through the passes before it, further in each step: a state is carried on with its graph.

What it does: follows the graph of a few losses and counts in how many of the backward passes before it nodes were made.
Told where there are thirty and more.

Why it matters: each pass goes over all chunks since the beginning again, so that steps take longer and longer and the
memory grows until it is gone. retain_graph=True silences the error that would have said so, and the gradients of the
old chunks are those of weights that have changed since. Left alone: several losses of one forward pass, a few chunks.

Bad:

    y, self.state = self.lstm(x, self.state)
    loss.backward(retain_graph=True)

Good:

    self.state = tuple(one.detach() for one in self.state)   # before each chunk
    loss.backward()

Fix: detach() the state between two chunks, and leave retain_graph out.
"""

from __future__ import annotations

import re

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Severity
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.mark_match import latest, nearest
from diagnostics.diagnosis.match_building import unfailed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.silent_match import as_told
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.loss_marks import GraphEndless

CODE = "D808"
NAME = "graph-endless"
CLASS = "memory-leak"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST = 30  # passes
_KEPT = re.compile(r"retain_graph\s{0,4}=\s{0,4}True")


def match(job: Job) -> Match | None:
    """Returns the ranks whose graph nothing cuts."""
    found = [one for one in latest(job, GraphEndless, lambda mark: mark.reached >= LEAST) if one.mark.reached >= LEAST]
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    backward = own(process, mark.path)[:1]
    kept = nearest(job, process, _KEPT, backward)[:1]
    places = [*(kept or backward), *backward]
    at = f" at {job.line(backward[0])}" if backward else ""
    match = unfailed(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        outcome=JobOutcome.SLOW,
        severity=Severity.WARNING,
        title=f"The backward pass{at} goes back through {mark.reached} passes and more before it: a state is carried "
        "on with its graph, each step takes longer than the one before, and memory grows",
        evidence=[
            Evidence(
                source=f"the graph behind the loss of pass {mark.passes}",
                observed=f"nodes made before {mark.reached} earlier backward passes",
                expected="none that an earlier pass went through",
            ),
            *(source_evidence(job, places[0]) if places else ()),
        ],
        fix="detach() the state between two chunks, and leave retain_graph=True out",
        locations=distinct([job.line(frame) for frame in places]),
        confidence=Confidence.CONFIRMED,
    )
    return as_told(job, match)
