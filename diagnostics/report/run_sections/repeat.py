"""The command that does it all again."""

from __future__ import annotations

from diagnostics.core.markdown import block
from diagnostics.report.run_report import RunReport

ORDER = 70
TITLE = "Run it again"


def render(report: RunReport) -> list[str]:
    """Returns the command line."""
    return block([report.repeat]) if report.repeat else []
