"""Builds the Match of a signature about processes that failed: ranks, pids, outcome and time from their processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict, Unpack

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.diagnosis.signature import Match
from diagnostics.dynamic.job.evidence import ended_s, rank_numbers, stood_still
from diagnostics.dynamic.job.job import Job, JobProcess


class Said(TypedDict):
    """What a signature says of ranks that are wrong or slow and did not fail."""

    code: str
    name: str
    failure_class: str
    title: str
    evidence: Sequence[Evidence]
    confidence: NotRequired[Confidence]


def natural_outcome(job: Job) -> JobOutcome:
    """HANG where the job stood still when it was ended by the doctor, by itself or for the user; else CRASH."""
    return JobOutcome.HANG if stood_still(job) else JobOutcome.CRASH


def blamed(
    job: Job,
    processes: Sequence[JobProcess],
    *,
    code: str,
    name: str,
    failure_class: str,
    title: str,
    evidence: Sequence[Evidence],
    fix: Fix,
    locations: Sequence[str] = (),
    module: str = "",
    confidence: Confidence = Confidence.CONFIRMED,
    outcome: JobOutcome | None = None,
    severity: Severity = Severity.ERROR,
    explains: Sequence[int] = (),
    began_s: float | None = None,
    generic: bool = False,
    victims: Sequence[JobProcess] = (),
) -> Match:
    """Returns a Match that blames `processes`; their pids, and `explains`, are what it accounts for.

    `victims` are ranks that waited for them, where no end of theirs tells so.
    """
    ranks = rank_numbers(processes)
    where = [", ".join(f"rank {rank}" for rank in ranks), module, *locations[:1]]
    return Match(
        finding=Finding(
            code=code,
            name=name,
            severity=severity,
            title=title,
            where=", ".join(filter(None, where)),
            evidence=tuple(evidence),
            fix=fix,
            confidence=confidence,
        ),
        failure_class=failure_class,
        outcome=outcome if outcome is not None else natural_outcome(job),
        culprit_ranks=ranks,
        victim_ranks=rank_numbers(victims),
        locations=tuple(locations),
        module=module,
        explains=tuple(dict.fromkeys([*(process.pid for process in processes), *explains])),
        began_s=began_s if began_s is not None else min(map(ended_s, processes), default=None),
        generic=generic,
    )


def unfailed(
    job: Job,
    processes: Sequence[JobProcess],
    *,
    outcome: JobOutcome,
    fix: str,
    locations: Sequence[str],
    severity: Severity = Severity.ERROR,
    module: str = "",
    victims: Sequence[JobProcess] = (),
    began_s: float | None = None,
    **said: Unpack[Said],
) -> Match:
    """Returns the Match of ranks that made the job wrong or slow, though none of them failed."""
    return blamed(
        job, processes, fix=Fix(text=fix), locations=locations, module=module, outcome=outcome, severity=severity,
        victims=victims, began_s=began_s, **said,
    )  # fmt: skip
