"""Where the time went, by stage."""

from __future__ import annotations

from diagnostics.core.markdown import table
from diagnostics.report.check_report import CheckReport

ORDER = 40
TITLE = "Seconds by stage"


def render(report: CheckReport) -> list[str]:
    """Returns a table of seconds and checks a stage; what lies between the checks is the last row."""
    spent: dict[str, list[float]] = {}
    for outcome in report.verdict.outcomes:
        spent.setdefault(str(outcome.stage), []).append(outcome.seconds)
    if not spent:
        return []
    rows = [(stage, str(len(seconds)), f"{sum(seconds):.2f}") for stage, seconds in spent.items()]
    total = report.verdict.seconds
    between = max(total - sum(map(sum, spent.values())), 0.0)
    rows += [("between checks", "", f"{between:.2f}"), ("all", str(len(report.verdict.outcomes)), f"{total:.2f}")]
    return table(("stage", "checks", "seconds"), rows, numbers=(1, 2))
