"""Pieces of Markdown that read well in a terminal too; no section by itself."""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics import redact


def inline(text: str) -> str:
    """Returns text as one line of prose: nothing in it starts a table cell, a tag or a control sequence."""
    return redact.line(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")


def code(text: str) -> str:
    """Returns text as inline code; the fence grows where the text holds backticks."""
    line = redact.line(" ".join(text.split()))
    if "`" not in line:
        return f"`{line}`"
    fence = "`" * (max(len(run) for run in _runs_of_backticks(line)) + 1)
    return f"{fence} {line} {fence}"


def _runs_of_backticks(line: str) -> list[str]:
    return ["`" * len(part) for part in "".join(c if c == "`" else " " for c in line).split()]


def block(lines: Sequence[str]) -> list[str]:
    """Returns lines as an indented code block, which no content can end early."""
    return ["", *(f"    {redact.line(line)}" for line in lines), ""]


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
