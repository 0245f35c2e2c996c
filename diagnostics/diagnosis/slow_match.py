"""What the findings about slow jobs have in common: when one is big enough to be told, and the table of the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Evidence, Severity
from diagnostics.diagnosis.match_building import Said, unfailed
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.silent_match import as_told
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.steps.contention import Contention
from diagnostics.dynamic.steps.split import Split
from diagnostics.dynamic.steps.table import percent, text_of

LEAST_STEPS = 50  # steady ones
LEAST_LOST_S = 2.0
SHOWN_RANKS = 16


def enough(splits: Sequence[Split], lost_s: float) -> bool:
    """Whether it went on for long enough to be more than a start-up or a bad minute."""
    return bool(splits) and len(splits[0].of.steps) >= LEAST_STEPS and lost_s >= LEAST_LOST_S


def told(
    job: Job,
    processes: Sequence[JobProcess],
    splits: Sequence[Split],
    *,
    fix: str,
    locations: Sequence[str],
    victims: Sequence[JobProcess] = (),
    **said: Unpack[Said],
) -> Match:
    """Returns the match of a slow job, with its steps taken apart as proof."""
    said["evidence"] = [table(splits), *said["evidence"]]
    match = unfailed(
        job,
        processes,
        outcome=JobOutcome.SLOW,
        severity=Severity.WARNING,
        fix=fix,
        locations=locations,
        victims=victims,
        began_s=splits[0].of.window_s(job)[0],
        **said,
    )
    return as_told(job, match)


def table(splits: Sequence[Split]) -> Evidence:
    """Returns the average step of each rank."""
    steps = splits[0].of.steps
    return Evidence(
        source=f"average of steps {steps[0].number} to {steps[-1].number}, ms by rank, host times",
        observed=text_of(splits[:SHOWN_RANKS]),
    )


def cpus_in_words(cpus: Contention) -> Evidence:
    """Returns who used the CPUs meanwhile."""
    shares = (("the job", cpus.job), ("others", cpus.others), ("idle", cpus.idle))
    said = ", ".join(f"{name} {percent(share)}" for name, share in shares if share is not None)
    return Evidence(source=f"use of {cpus.cpus} CPUs meanwhile (/proc)", observed=said or "not read")
