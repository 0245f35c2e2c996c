"""The report of a job whose diagnosis came to no end: what the supervisor itself knows, nothing that needs thought."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.engine import write_report
from diagnostics.diagnosis.report_builder import doctor_version
from diagnostics.diagnosis.verdict import STALLED_EXIT, STRICT_EXIT
from diagnostics.record.supervisor_facts import ABORTED, START_AGAIN, SupervisorFacts
from diagnostics.record.untrusted_files import read_job
from diagnostics.report.run_report import NO_CLASS, UNKNOWN_CLASS, RunReport


def write_short_report(folder: Path, job_code: int, why: str, say: Callable[[str], None]) -> int:
    """Writes report.json and report.md from job.json alone, where it can; returns the exit code by that.

    A report that is there stands: a provisional one, made of more than this. `say` is told why it has no page.
    """
    facts, problem = read_job(folder / "record" / "job.json")
    job = facts or SupervisorFacts(command=(), cwd="", started_ns=0)
    exit_code = _exit_code(job, job_code)
    if not (folder / "report.md").exists():
        with suppress(OSError):  # said already: there is no report
            no_page = write_report(_report(job, exit_code, tuple(filter(None, (why, problem)))), folder)
            if no_page:
                say(f"ups-doctor: {no_page}")
    return exit_code


def _exit_code(job: SupervisorFacts, job_code: int) -> int:
    if job.ended_by == "interrupt" and job_code != START_AGAIN:
        return 128 + next((one.signal for one in job.sent if one.why == "interrupt"), signal.SIGINT)
    if job.ended_by == ABORTED:
        return STRICT_EXIT
    return STALLED_EXIT if job.ended_for_hanging else job_code


def _report(job: SupervisorFacts, exit_code: int, gaps: tuple[str, ...]) -> RunReport:
    outcome = _outcome(job)
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
        root_cause=_said(outcome, ranks),
        fix="have the record diagnosed again: ups-doctor diagnose FOLDER, the folder of this report",
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
        not_captured=(*gaps, *(f"{one.what}: {one.why}" for one in job.missing)),
        repeat=f"ups-doctor run -- {command}" if command else "",
    )


def _outcome(job: SupervisorFacts) -> JobOutcome:
    if job.proved or job.ended_for_hanging:
        return JobOutcome.HANG
    if job.signal is not None or job.exit_code not in (0, None):
        return JobOutcome.CRASH
    return JobOutcome.OK if job.exit_code == 0 else JobOutcome.UNKNOWN


def _said(outcome: JobOutcome, ranks: tuple[int, ...]) -> str:
    if ranks:
        return f"ranks {', '.join(map(str, ranks))} waited for each other for ever: that was proved while the job ran"
    if outcome is JobOutcome.OK:
        return "the job said success; whether that is true was not examined"
    return "why was not examined: the diagnosis came to no end"
