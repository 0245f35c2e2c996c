"""Where a job that hung stands: what each rank, and each process that it started, did while nothing moved."""

from __future__ import annotations

from diagnostics.core.markdown import inline, table
from diagnostics.report.run_report import RunReport

ORDER = 15
TITLE = "Where it stands"

SHOWN = 40  # processes


def render(report: RunReport) -> list[str]:
    """Returns one row a process; nothing for a job that did not hang."""
    if not report.standing:
        return []
    rows = [
        [inline(one.who), inline(one.place), inline(one.does), inline(one.looks)] for one in report.standing[:SHOWN]
    ]
    hidden = len(report.standing) - SHOWN
    lines = table(["process", "line", "what it does", "seen"], rows, numbers=[])
    return [*lines, "", f"{hidden} more processes stand in report.json."] if hidden > 0 else lines
