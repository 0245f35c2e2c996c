"""Splits as text: the same columns in a page, on a terminal and as proof. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.dynamic.steps.split import Split
from diagnostics.record.step_timings import Phase

LABELS = {
    Phase.DATA: "data wait",
    Phase.FORWARD: "forward",
    Phase.BACKWARD: "backward",
    Phase.COLLECTIVE: "waits for ranks",
    Phase.OPTIMIZER: "optimizer",
    Phase.CHECKPOINT: "checkpoint",
    Phase.EVALUATION: "evaluation",
    Phase.OTHER: "other host work",
}
LEAST_SHARE = 0.005  # of a step, on any rank, for a column


def phases_of(splits: Sequence[Split]) -> list[Phase]:
    """Returns the phases that take any time worth a column, in the order of a step."""
    return [phase for phase in LABELS if any(one.share(phase) >= LEAST_SHARE for one in splits)]


def rows_of(splits: Sequence[Split]) -> tuple[list[str], list[list[str]]]:
    """Returns head and rows: rank, milliseconds of a step, and of each phase."""
    phases = phases_of(splits)
    delayed = any(one.delay_s is not None for one in splits)
    head = ["rank", "step ms", *(LABELS[phase] for phase in phases), *(["no CPU"] if delayed else [])]
    rows = []
    for one in splits:
        cells = [milliseconds(one.seconds(phase)) for phase in phases]
        lack = [] if not delayed else ["?" if one.delay_s is None else milliseconds(one.delay_s)]
        rows.append([str(one.rank), milliseconds(one.mean_s), *cells, *lack])
    return head, rows


def text_of(splits: Sequence[Split], width: int = 0) -> str:
    """Returns the table with aligned columns.

    On a terminal of `width` columns that it is too wide for, a head has a line for each of its words; of what is too
    wide even then the further columns follow below, each part with its ranks. 0 is no terminal.
    """
    head, rows = rows_of(splits)
    columns = [[[name], [row[number] for row in rows]] for number, name in enumerate(head)]
    if width and _width(columns) > width:
        columns = [[name.split(), cells] for [[name], cells] in columns]
    parts = [columns[:1]]
    for column in columns[1:]:
        if width and len(parts[-1]) > 1 and _width([*parts[-1], column]) > width:
            parts.append(columns[:1])
        parts[-1] = [*parts[-1], column]
    return "\n\n".join(map(_aligned, parts))


def _aligned(columns: Sequence[Sequence[Sequence[str]]]) -> str:
    deep = max(len(head) for head, _ in columns)
    lines = [[*[""] * (deep - len(head)), *head, *cells] for head, cells in columns]
    sizes = [max(map(len, column)) for column in lines]
    rows = zip(*lines, strict=True)
    return "\n".join("  ".join(cell.rjust(size) for cell, size in zip(row, sizes, strict=True)) for row in rows)


def _width(columns: Sequence[Sequence[Sequence[str]]]) -> int:
    return sum(max(map(len, [*head, *cells])) + 2 for head, cells in columns) - 2


def milliseconds(seconds: float) -> str:
    """Returns "0.42", "12.3" or "1250"."""
    value = 1e3 * seconds
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def percent(share: float) -> str:
    """Returns "43 %"."""
    return f"{100 * share:.0f} %"
