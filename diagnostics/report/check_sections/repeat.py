"""The command that does it all again."""

from __future__ import annotations

from diagnostics.core.markdown import block
from diagnostics.report.check_report import CheckReport

ORDER = 70
TITLE = "Run it again"


def render(report: CheckReport) -> list[str]:
    """Returns the command line."""
    return block([report.command])
