"""A failure that was hidden has a cause like any other: what the signatures of failed jobs say of it, under the lie.

A job that says 0 is shown to the signatures that look for lies. What they find hidden may be a port that differs, a
file that is cut off, a rank that the kernel killed: the job is looked at once more, as the failed one that it is, and
the verdict keeps its class and its exit code, and takes over cause, culprit, line and fix. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.verdict import order_of
from diagnostics.dynamic.job.job import Job


def as_it_failed(job: Job, masked: Match) -> Job:
    """Returns the job with the exit code that it would have had, had nothing hidden the failure."""
    hidden = job.of_pid(masked.explains[0]) if masked.explains else None
    code = hidden.end.exit_code if hidden is not None else None
    return replace(job, facts=replace(job.facts, exit_code=code or 1))


def with_its_cause(masked: Match, matches: Sequence[Match]) -> Match:
    """Returns the verdict on a hidden failure with what is known of its cause; `masked` where nothing says more."""
    known = [
        one
        for one in matches
        if one.is_root
        and not one.generic
        and one.finding.confidence is not Confidence.POSSIBLE
        and set(one.explains) & set(masked.explains)
    ]
    cause = min(known, key=order_of, default=None)
    if cause is None:
        return masked
    found = cause.finding
    finding = replace(
        masked.finding,
        title=f"{found.title.rstrip('.')}, and {masked.hidden_by}",
        where=found.where,
        evidence=(*found.evidence, *masked.finding.evidence),
        fix=_both(found.fix, masked.unhide),
        confidence=min(found.confidence, masked.finding.confidence, key=_SURENESS.index),
    )
    return replace(
        masked,
        finding=finding,
        culprit_ranks=cause.culprit_ranks or masked.culprit_ranks,
        victim_ranks=cause.victim_ranks,
        locations=distinct([*cause.locations[:1], *masked.locations, *cause.locations[1:]]),
        module=cause.module or masked.module,
    )


def _both(fix: Fix | None, unhide: str) -> Fix:
    return Fix(text=f"{fix.text}; {unhide}", commands=fix.commands) if fix is not None else Fix(text=unhide)


_SURENESS = (Confidence.POSSIBLE, Confidence.LIKELY, Confidence.CONFIRMED)
