"""Hooks are registered on the same modules again and again, and each call of the model runs all of them.

What it does: counts where hooks are registered, and, before steps 10, 20, 40 ..., how many of one function a module
holds. Where there are six and more in one module, and more than at the look before, they are never removed.

Why it matters: each pass takes longer than the one before, and what the hooks hold is kept. A run that began at 5 ms a
step is at 50 ms after some epochs, and no line of the loop says why.

Fix: keep the handle and call `handle.remove()`, or register once, before the loop.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Severity
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.mark_match import latest
from diagnostics.diagnosis.match_building import unfailed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.silent_match import as_told
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import HooksGrow

CODE = "D805"
NAME = "hooks-pile-up"
CLASS = "memory-leak"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose modules hold ever more hooks."""
    found = latest(job, HooksGrow, lambda mark: mark.path[:1])
    if not found:
        return None
    first = max(found, key=lambda one: one.mark.count)
    mark, places = first.mark, own(first.process, first.mark.path)
    at = f" at {job.line(places[0])}" if places else ""
    match = unfailed(
        job,
        list({one.process.pid: one.process for one in found}.values()),
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        outcome=JobOutcome.SLOW,
        severity=Severity.WARNING,
        title=f"{mark.module} holds {mark.count} hooks of {mark.function}() by step {mark.step}, registered anew{at}: "
        "each call of it runs all of them",
        evidence=[
            Evidence(
                source=f"hooks of {mark.function}() in {mark.module}, at step {mark.step} and at the look before",
                observed=f"{mark.count}, {mark.before}",
                expected="the same number",
            ),
            *(source_evidence(job, places[0]) if places else ()),
        ],
        fix="register the hook once, or keep what register_...hook() returns and call remove() on it afterwards",
        locations=distinct([job.line(frame) for frame in places[:2]]),
        confidence=Confidence.CONFIRMED,
    )
    return as_told(job, match)
