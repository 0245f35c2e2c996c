"""Fills a RunReport from a case and its verdict."""

from __future__ import annotations

import platform
import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Finding
from diagnostics.core.job_trace import JobTrace
from diagnostics.diagnosis.rank_table import coverage, rank_rows, stack_groups
from diagnostics.diagnosis.stalled_processes import stalled_rows
from diagnostics.diagnosis.timeline import timeline
from diagnostics.diagnosis.unseen_ranks import unseen_note
from diagnostics.diagnosis.verdict import Diagnosis, Exit, job_exit
from diagnostics.dynamic.exit_status.failed_script_lines import failed_script_lines
from diagnostics.dynamic.failures.unexplained import ObservedFacts, unexplained
from diagnostics.dynamic.job.evidence import ended_s
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.stall.stall_evidence import past_stalls
from diagnostics.dynamic.trace.trace_builder import trace_of
from diagnostics.record.record import RunRecord
from diagnostics.report.run_report import RankRow, RunReport, SourceExcerpt

SHOWN_LOCATIONS = 3
MOST_HANDLED = 5
REACH = 3  # source lines above and below
JUST_NOW_S = 120.0  # a report later than this is made from an old record, and detected nothing in time


def build_report(
    job: Job,
    record: RunRecord,
    decision: Diagnosis,
    exit_: Exit,
    *,
    state: Job | None = None,
    provisional: bool,
    troubles: Sequence[str],
    began: float,
    now_s: float,
) -> RunReport:
    """Returns the report; `began` is when the diagnosis started by time.monotonic(), `now_s` the wall clock.

    `state` is the job as it was when the verdict about it was true, where that is not its end: before the first signal.
    """
    first = decision.first
    state = state or job
    seen = unexplained(state) if first is None and decision.outcome is not JobOutcome.OK else ObservedFacts(sentence="")
    culprits = tuple(first.culprit_ranks if first is not None else seen.ranks)
    suffered = {one.rank for one in state.victims if one.rank is not None}
    victims = tuple(sorted((suffered | set(first.victim_ranks if first is not None else ())) - set(culprits)))
    named = first.locations if first is not None else seen.locations or failed_script_lines(state)
    locations = tuple(dict.fromkeys(one for one in named if one and state.homes.may_be_named(one)))
    fix = first.finding.fix if first is not None else None
    lateness = _seconds_since(job, now_s)
    here = lateness is not None and lateness < JUST_NOW_S
    trace, undrawn = _trace(state)
    return RunReport(
        doctor_version=doctor_version(),
        provisional=provisional,
        outcome=decision.outcome,
        failure_class=decision.failure_class,
        culprit_ranks=culprits,
        victim_ranks=victims,
        location=locations[0] if locations else None,
        locations=locations,
        module=((first.module if first is not None else seen.module) or None),
        root_cause=first.finding.title if first is not None else seen.sentence,
        fix=fix.text if fix is not None else seen.advice,
        fix_commands=fix.commands if fix is not None else (),
        confidence=first.finding.confidence if first is not None else _certainty(job, decision),
        findings=_findings(decision),
        timeline=timeline(job),
        ranks=_rows(job, state, culprits, victims, platform.node() if here else ""),
        coverage=coverage(job, record),
        job_exit_code=job_exit(job)[0],
        exit_code=exit_.code,
        exit_code_reason=exit_.reason,
        seconds=_seconds(job, state, decision, now_s, began, here=here),
        command=shlex.join(job.facts.command),
        environment=_environment(job),
        cwd=job.facts.cwd,
        cut_short=_cut_short(job),
        started=_started(job.facts.started_ns),
        sources=_excerpts(state, locations),
        stacks=stack_groups(state),
        standing=stalled_rows(state, decision.outcome),
        notes=(*decision.notes, *_shortened(decision.handled), *_notes(job, record)),
        not_captured=_not_captured(record, (*troubles, *undrawn)),
        repeat=shlex.join(["ups-doctor", "run", "--", *job.facts.command]) if job.facts.command else "",
        trace=trace,
    )


def _trace(job: Job) -> tuple[JobTrace | None, tuple[str, ...]]:
    """Returns the lanes of the page, or why there are none: that costs the page its picture and nothing else."""
    try:
        return trace_of(job), ()
    except Exception as error:
        return None, (f"lanes of the page: {type(error).__name__}: {error}",)


def _findings(decision: Diagnosis) -> tuple[Finding, ...]:
    first = [decision.first] if decision.first is not None else []
    return tuple(one.finding for one in [*first, *decision.others])


def _rows(job: Job, state: Job, culprits: Sequence[int], victims: Sequence[int], host: str) -> tuple[RankRow, ...]:
    """Returns how each rank ended, and where it stood when the verdict about it was true."""
    rows = rank_rows(job, culprits, victims, host)
    if state is job:
        return rows
    stood = {(row.rank, row.pid): row for row in rank_rows(state, culprits, victims, host)}
    return tuple(
        replace(row, last_module=then.last_module, last_collective=then.last_collective, stack=then.stack)
        if (then := stood.get((row.rank, row.pid))) is not None
        else row
        for row in rows
    )


def _certainty(job: Job, decision: Diagnosis) -> Confidence:
    """A job in which nothing was found wrong ended well by its own word; one whose end nobody saw has said nothing."""
    seen = decision.outcome is JobOutcome.OK and job.facts.ended_by != "unknown"
    return Confidence.CONFIRMED if seen else Confidence.POSSIBLE


def _excerpts(job: Job, locations: Sequence[str]) -> tuple[SourceExcerpt, ...]:
    excerpts = []
    for location in locations[:SHOWN_LOCATIONS]:
        file, _, line = location.rpartition(":")
        lines = job.sources.file(file).around(int(line), reach=REACH) if line.isdigit() and len(line) < 9 else ()
        if lines:
            excerpts.append(SourceExcerpt(location=location, lines=lines))
    return tuple(excerpts)


def _seconds(job: Job, state: Job, decision: Diagnosis, now_s: float, began: float, *, here: bool) -> dict[str, float]:
    seconds = {}
    job_s = job.facts.ended_s
    if job_s is not None:
        seconds["job"] = round(job_s, 3)
    failed_at = _first_failure_s(state, decision)
    if failed_at is not None and here:
        seconds["detection"] = round(max(0.0, now_s - job.facts.started_ns / 1e9 - failed_at), 3)
    seconds["diagnosis"] = round(time.monotonic() - began, 3)
    return seconds


def _first_failure_s(job: Job, decision: Diagnosis) -> float | None:
    """Returns when the trouble began to show: a culprit's end, the stall's beginning, or what the verdict names."""
    if job.culprits:
        return min(map(ended_s, job.culprits))
    if job.facts.stalls and decision.outcome is JobOutcome.HANG:
        return job.facts.stalls[-1].began_s
    return decision.first.began_s if decision.first is not None else None


def _cut_short(job: Job) -> str:
    """Returns who asked a job to end that may have gone on."""
    if not job.facts.asked_to_end:
        return ""
    return "interrupt" if job.facts.ended_by == "interrupt" else "doctor"


def _seconds_since(job: Job, now_s: float) -> float | None:
    """Returns how long ago the job ended, or began where its end is unknown."""
    if job.facts.started_ns <= 0:
        return None
    return now_s - job.facts.started_ns / 1e9 - (job.facts.ended_s or 0.0)


def _environment(job: Job) -> dict[str, str]:
    pythons = sorted(
        {process.agent.python for process in job.ranks if process.agent is not None and process.agent.python}
    )
    facts = {"python of the job": ", ".join(pythons)} if pythons else {}
    return {**facts, **dict(sorted(job.facts.variables.items()))}


def _notes(job: Job, record: RunRecord) -> list[str]:
    notes = [*past_stalls(job), *filter(None, [unseen_note(job)])]
    restarts = max((process.restart for process in job.ranks), default=0)
    if restarts:
        notes.append(
            f"the ranks were started again {restarts} time{'s' if restarts > 1 else ''}; the last start counts"
        )
    if job.facts.ended_by == "unknown":
        refused = next((one.reason for one in record.unreadable if one.name == "job.json"), "")
        why = f"what the doctor wrote cannot be used ({refused})" if refused else "the doctor was ended before the job"
        notes.append(f"{why}: how it went on is known from what the ranks wrote only")
    return notes


def _shortened(handled: Sequence[str]) -> list[str]:
    """Returns the first few failures that the job dealt with; a test suite may have hundreds."""
    more = len(handled) - MOST_HANDLED
    return [*handled[:MOST_HANDLED], *([f"{more} more failures were dealt with by the job itself"] if more > 0 else [])]


def _not_captured(record: RunRecord, troubles: Sequence[str]) -> tuple[str, ...]:
    job = record.job
    missing = [f"{one.what}: {one.why}" for one in job.missing] if job is not None else []
    unreadable = [f"{one.name}: {one.reason}" for one in record.unreadable]
    return tuple(dict.fromkeys([*troubles, *missing, *unreadable]))


def _started(started_ns: int) -> str:
    try:
        moment = datetime.fromtimestamp(started_ns / 1e9, UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return ""
    return moment.isoformat(timespec="seconds") if started_ns > 0 else ""


def doctor_version() -> str:
    """Returns this program's version."""
    try:
        return version("ups-doctor")
    except PackageNotFoundError:
        return "unknown"
