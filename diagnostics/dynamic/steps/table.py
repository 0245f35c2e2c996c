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


def text_of(splits: Sequence[Split]) -> str:
    """Returns the table with aligned columns."""
    head, rows = rows_of(splits)
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]
    )


def milliseconds(seconds: float) -> str:
    """Returns "0.42", "12.3" or "1250"."""
    value = 1e3 * seconds
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def percent(share: float) -> str:
    """Returns "43 %"."""
    return f"{100 * share:.0f} %"
