"""What the findings about one rank's own training have in common: whose mark it is, which lines it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, Unpack

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.frame import Frame
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import Said, unfailed
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.silent_match import as_told
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import lines_like

MOST_LINES = 200
MarkKind = TypeVar("MarkKind")


@dataclass(frozen=True, slots=True)
class Told(Generic[MarkKind]):
    """One mark and whose it is."""

    process: JobProcess
    mark: MarkKind


def runs_on(job: Job) -> bool:
    """Whether the job has not ended."""
    return job.facts.exit_code is None and job.facts.signal is None


def latest(job: Job, kind: type[MarkKind], key: Callable[[MarkKind], object] = lambda _: 0) -> list[Told[MarkKind]]:
    """Returns the last mark of this kind of every rank, one for each value of `key`."""
    found = []
    for process in job.ranks:
        by_key = {key(mark): mark for mark in process.prints.marks_of(kind)}
        found += [Told(process, mark) for mark in by_key.values()]
    return found


def backwards_of(process: JobProcess) -> int:
    """Returns how many backward passes a rank began."""
    return process.agent.steps.backwards if process.agent is not None else 0


def nearest(job: Job, process: JobProcess, pattern: re.Pattern[str], around: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns the lines like this in the file of the first frame, the nearest to it first; else those of others."""
    found = lines_like(job, process, pattern, MOST_LINES)
    if not around:
        return found[:2]
    here = [one for one in found if one.file == around[0].file]
    return tuple(sorted(here, key=lambda one: abs(one.line - around[0].line))[:2]) or found[:1]


def training_match(
    job: Job,
    processes: Iterable[JobProcess],
    *,
    places: Sequence[Frame],
    fix: str,
    module: str = "",
    **said: Unpack[Said],
) -> Match:
    """Returns the match about ranks that train wrongly, the line to change first."""
    said["evidence"] = [*said["evidence"], *(source_evidence(job, places[0]) if places else ())]
    match = unfailed(
        job,
        list({process.pid: process for process in processes}.values()),
        outcome=JobOutcome.SILENT_WRONG,
        fix=fix,
        locations=distinct([job.line(frame) for frame in places]),
        module=module,
        **said,
    )
    return as_told(job, match)
