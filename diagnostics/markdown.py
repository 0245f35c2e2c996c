"""Pieces of Markdown that read well in a terminal too."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics import redact


def inline(text: str) -> str:
    """Returns text as one line of prose: nothing in it starts a table cell, a tag or a control sequence."""
    return redact.line(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    """Returns text as inline code."""
    line = redact.line(" ".join(text.split()))
    fence = _fence([line], shortest=1)
    return f"`{line}`" if fence == "`" else f"{fence} {line} {fence}"


def block(lines: Sequence[str]) -> list[str]:
    """Returns lines as a code block."""
    shown = [redact.line(line) for line in lines]
    fence = _fence(shown, shortest=3)
    return [fence, *shown, fence]


def _fence(lines: Sequence[str], *, shortest: int) -> str:
    # Longer than every run of backticks inside, so that no content can end it early.
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    return "`" * max(shortest, longest + 1)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> list[str]:
    """Returns an aligned table; the columns in `numbers` are aligned to the right. Cells are Markdown already."""
    widths = [max(3, *(len(row[column]) for row in [head, *rows])) for column in range(len(head))]
    rule = ["-" * (width - 1) + ":" if column in numbers else "-" * width for column, width in enumerate(widths)]
    return [_row(head, widths, numbers), "| " + " | ".join(rule) + " |", *(_row(row, widths, numbers) for row in rows)]


def _row(cells: Sequence[str], widths: Sequence[int], numbers: Sequence[int]) -> str:
    shown = [
        cell.rjust(width) if column in numbers else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join(shown) + " |"
