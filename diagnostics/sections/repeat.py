"""The command that does it all again."""

from __future__ import annotations

from diagnostics.report_data import Report
from diagnostics.sections.markdown import block

ORDER = 70
TITLE = "Run it again"


def render(report: Report) -> list[str]:
    """Returns the command line."""
    return block([report.command])
