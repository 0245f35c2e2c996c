"""What was not captured, and why: a verdict is worth as much as what it rests on."""

from __future__ import annotations

from diagnostics.core.markdown import inline
from diagnostics.report.run_report import RunReport

ORDER = 60
TITLE = "What was not captured"


def render(report: RunReport) -> list[str]:
    """Returns one line a gap; equal gaps of several ranks share one."""
    gaps: dict[str, list[str]] = {}
    for rank, coverage in report.coverage.items():
        for gap in coverage.missing:
            gaps.setdefault(gap, []).append(rank)
    of_ranks = [f"- rank {', '.join(ranks)}: {inline(gap)}" for gap, ranks in gaps.items()]
    return [*of_ranks, *(f"- {inline(gap)}" for gap in report.not_captured)]
