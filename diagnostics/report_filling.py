"""Fills a RunReport from a case and its verdict."""

from __future__ import annotations

import platform
import shlex
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from diagnostics.analysis.case import Case, ProcessStory
from diagnostics.analysis.unexplained import unexplained
from diagnostics.findings import Confidence
from diagnostics.record import RunRecord
from diagnostics.run_report import RankRow, RunReport
from diagnostics.verdict import Decision, Exit, job_exit, signal_name

SHOWN_LOCATIONS = 3
SHOWN_FRAMES = 20


def fill_report(
    case: Case,
    record: RunRecord,
    decision: Decision,
    exit_: Exit,
    *,
    provisional: bool,
    troubles: Sequence[str],
    began: float,
) -> RunReport:
    """Returns the report; `began` is when the diagnosis started, by time.monotonic()."""
    first = decision.first
    seen = unexplained(case) if first is None else None
    culprits = (
        first.culprit_ranks
        if first is not None
        else tuple(sorted({story.rank for story in case.culprits if story.rank is not None}))
        if seen is not None and case.failed
        else ()
    )
    victims = tuple(sorted({s.rank for s in case.victims if s.rank is not None} - set(culprits)))
    locations = first.locations if first is not None else ()
    findings = tuple(one.finding for one in ([first] if first else []) + list(decision.others))
    fix = first.finding.fix if first is not None else None
    return RunReport(
        doctor_version=version("ups-doctor"),
        provisional=provisional,
        outcome=decision.outcome,
        failure_class=decision.failure_class,
        culprit_ranks=tuple(culprits),
        victim_ranks=victims,
        location=locations[0] if locations else None,
        locations=locations,
        module=first.module or None if first is not None else None,
        root_cause=first.finding.title if first is not None else "",
        fix=fix.text if fix is not None else "",
        fix_commands=fix.commands if fix is not None else (),
        confidence=first.finding.confidence if first is not None else Confidence.POSSIBLE,
        findings=findings,
        timeline=(),
        ranks=tuple(_row(case, story, culprits, victims) for story in case.ranks),
        coverage={},
        job_exit_code=job_exit(case)[0],
        exit_code=exit_.code,
        exit_code_reason=exit_.reason,
        seconds={"job": case.job.ended_s or 0.0, "detection": 0.0, "diagnosis": round(time.monotonic() - began, 3)},
        command=shlex.join(case.job.command),
        environment=dict(case.job.variables),
        cwd=case.job.cwd,
        started=datetime.fromtimestamp(case.job.started_ns / 1e9, UTC).astimezone().isoformat(timespec="seconds"),
        sources=(),
        stacks=(),
        notes=decision.notes,
        not_captured=tuple(troubles),
        repeat=shlex.join(["ups-doctor", "run", "--", *case.job.command]),
    )


def _row(case: Case, story: ProcessStory, culprits: Sequence[int], victims: Sequence[int]) -> RankRow:
    rank = story.rank if story.rank is not None else -1
    return RankRow(
        rank=rank,
        host=platform.node(),
        pid=story.pid,
        exit_code=story.end.exit_code,
        signal=signal_name(story.end.signal) if story.end.signal is not None else None,
        role="culprit" if rank in culprits else "victim" if rank in victims else "",
        ended="",
        last_step=story.steps or None,
        last_module="",
        last_collective="",
    )
