"""What became of each rank."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.markdown import inline, table
from diagnostics.report.run_report import RankRow, RunReport

ORDER = 20
TITLE = "Ranks"

SHOWN = 32  # rows; of a large job those that failed come first


def render(report: RunReport) -> list[str]:
    """Returns one row a rank; columns that no rank fills are left out."""
    if not report.ranks:
        return []
    order = {"culprit": 0, "victim": 1}
    rows = report.ranks
    if len(rows) > SHOWN:
        rows = tuple(sorted(rows, key=lambda row: (order.get(row.role, 2), row.rank))[:SHOWN])
    head = ["rank", "pid", "end", "role", "last step", "last module", "last collective", "host"]
    cells = [_cells(row) for row in rows]
    kept = [column for column in range(len(head)) if any(row[column] for row in cells)]
    lines = table([head[c] for c in kept], [[row[c] for c in kept] for row in cells], numbers=_numeric(kept))
    hidden = len(report.ranks) - len(rows)
    return [*lines, "", f"{hidden} more ranks stand in report.json."] if hidden else lines


def _cells(row: RankRow) -> list[str]:
    step = "" if row.last_step is None else str(row.last_step)
    pid = "" if row.pid is None else str(row.pid)
    words = (row.ended, row.role)
    return [
        str(row.rank),
        pid,
        *map(inline, words),
        step,
        *map(inline, (row.last_module, row.last_collective, row.host)),
    ]


def _numeric(kept: Sequence[int]) -> list[int]:
    return [place for place, column in enumerate(kept) if column in (0, 1, 4)]
