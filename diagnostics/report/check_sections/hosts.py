"""Several hosts beside each other, one row each."""

from __future__ import annotations

from diagnostics.core.markdown import inline, table
from diagnostics.report.check_report import CheckReport

ORDER = 5
TITLE = "Hosts"


def render(report: CheckReport) -> list[str]:
    """Returns the table of hosts."""
    if not report.hosts:
        return []
    head, *rows = report.hosts
    return table([inline(cell) for cell in head], [[inline(cell) for cell in row] for row in rows])
