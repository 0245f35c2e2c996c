"""Every check in the order of the stages, with its seconds."""

from __future__ import annotations

from diagnostics.core.findings import Outcome, Severity, Status
from diagnostics.core.markdown import inline, table
from diagnostics.report.check_report import CheckReport

ORDER = 20
TITLE = "Checks"

MARKS = {Severity.ERROR: "FAIL", Severity.WARNING: "warn", Severity.INFO: "note", None: "ok"}
UNFINISHED = {Status.SKIPPED: "skip", Status.TIMED_OUT: "HUNG", Status.CRASHED: "CRASH?"}


def render(report: CheckReport) -> list[str]:
    """Returns a table of all outcomes."""
    rows = [_row(outcome) for outcome in report.verdict.outcomes]
    return table(("stage", "check", "result", "seconds", "what was seen"), rows, numbers=(3,)) if rows else []


def _row(outcome: Outcome) -> tuple[str, ...]:
    mark = UNFINISHED.get(outcome.status) or MARKS[outcome.worst]
    seen = inline(outcome.title) if outcome.status is Status.DONE else inline(outcome.name)
    if outcome.findings:
        seen = inline("; ".join(finding.title for finding in outcome.findings))
    return (str(outcome.stage), outcome.code, mark, f"{outcome.seconds:.2f}", seen)
