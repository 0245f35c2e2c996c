"""The report of a job whose diagnosis came to no end: what the supervisor itself knows, nothing that needs thought."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable
from pathlib import Path

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.engine import write_report
from diagnostics.diagnosis.report_builder import doctor_version
from diagnostics.diagnosis.verdict import STALLED_EXIT, STRICT_EXIT
from diagnostics.record.supervisor_facts import ABORTED, START_AGAIN, SupervisorFacts
from diagnostics.record.untrusted_files import read_job
from diagnostics.report.run_report import NO_CLASS, UNKNOWN_CLASS, RunReport


def write_short_report(
    folder: Path, job_code: int, why: str, say: Callable[[str], None], *, named: str
) -> tuple[int, RunReport | None]:
    """Writes report.json and report.md from job.json alone; returns the exit code by that, and what was written.

    A report that is there stands: a provisional one, made of more than this. `say` is told why it has no page;
    `named` is the folder as the user would write it.
    """
    facts, problem = read_job(folder / "record" / "job.json")
    job = facts or SupervisorFacts(command=(), cwd="", started_ns=0)
    exit_code = _exit_code(job, job_code)
    if (folder / "report.md").exists():
        return exit_code, None
    report = _report(job, exit_code, named, tuple(filter(None, (why, problem))))
    try:
        no_page = write_report(report, folder)
    except OSError:  # the caller says that there is no report
        return exit_code, None
    if no_page:
        say(f"ups-doctor: {no_page}")
    return exit_code, report


def _exit_code(job: SupervisorFacts, job_code: int) -> int:
    if job.ended_by == "interrupt" and job_code != START_AGAIN:
        return 128 + next((one.signal for one in job.sent if one.why == "interrupt"), signal.SIGINT)
    if job.ended_by == ABORTED:
        return STRICT_EXIT
    return STALLED_EXIT if job.ended_for_hanging else job_code


def _report(job: SupervisorFacts, exit_code: int, named: str, gaps: tuple[str, ...]) -> RunReport:
    outcome = _outcome(job)
    again = f"ups-doctor diagnose {named}"
    unseen = f"whether anything was wrong before was not examined: {again}"
    ranks = job.proved[-1].ranks if job.proved else ()
    own = 128 + job.signal if job.signal is not None else job.exit_code
    command = shlex.join(job.command)
    return RunReport(
        doctor_version=doctor_version(),
        provisional=False,
        outcome=outcome,
        failure_class=NO_CLASS if outcome is JobOutcome.OK else UNKNOWN_CLASS,
        culprit_ranks=(),
        victim_ranks=(),
        location=None,
        locations=(),
        module=None,
        root_cause=_said(outcome, ranks, gaps[0]),
        fix=f"have the record diagnosed again: {again}",
        confidence=Confidence.POSSIBLE,
        findings=(),
        timeline=(),
        ranks=(),
        coverage={},
        job_exit_code=own,
        exit_code=exit_code,
        exit_code_reason="nothing more is known than how the job ended",
        seconds={},
        command=command,
        environment={},
        cwd=job.cwd,
        cut_short="interrupt" if job.ended_by == "interrupt" else "",
        notes=(unseen,) if outcome is JobOutcome.OK else (),
        not_captured=(*gaps, *(f"{one.what}: {one.why}" for one in job.missing)),
        repeat=f"ups-doctor run -- {command}" if command else "",
    )


def _outcome(job: SupervisorFacts) -> JobOutcome:
    if job.proved or job.ended_for_hanging:
        return JobOutcome.HANG
    if job.ended_by == "interrupt":  # whatever code it left with, it was asked to
        return JobOutcome.OK
    if job.signal is not None or job.exit_code not in (0, None):
        return JobOutcome.CRASH
    return JobOutcome.OK if job.exit_code == 0 else JobOutcome.UNKNOWN


def _said(outcome: JobOutcome, ranks: tuple[int, ...], why: str) -> str:
    if ranks:
        return f"ranks {', '.join(map(str, ranks))} waited for each other for ever: that was proved while the job ran"
    if outcome is JobOutcome.OK:
        return "the job said success; whether that is true was not examined"
    return f"not examined: {why}"
