"""The last telling events of every process, in one order."""

from __future__ import annotations

from diagnostics.core.markdown import block
from diagnostics.report.run_report import RunReport, TimelineEntry

ORDER = 40
TITLE = "Timeline"

SHOWN = 60


def render(report: RunReport) -> list[str]:
    """Returns one line an event: seconds since the start, who, what, where."""
    if not report.timeline:
        return []
    entries = report.timeline[-SHOWN:]
    dropped = len(report.timeline) - len(entries)
    head = [f"({dropped} earlier events stand in report.json)"] if dropped else []
    return block([*head, *map(_line, entries)])


def _line(entry: TimelineEntry) -> str:
    who = f"rank {entry.rank}" if entry.rank is not None else f"pid {entry.pid}"
    where = f"  {entry.location}" if entry.location else ""
    return f"{entry.at_s:9.3f} s  {who:<10}  {entry.what}{where}"
