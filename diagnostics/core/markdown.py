"""Pieces of Markdown that read well in a terminal too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from diagnostics.core import redaction
from diagnostics.core.console import printable


def page(lines: Iterable[str]) -> str:
    """Returns a page made of these lines, whatever they hold: the one place where text goes out to a page."""
    return printable("\n".join(redaction.text(line) for line in lines).rstrip()) + "\n"


_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)")  # code in a line, as Markdown pairs backticks


def inline(text: str) -> str:
    """Returns text as one line of prose: nothing in it starts a cell, a tag, a link, code or a control sequence."""
    line = redaction.line(" ".join(text.split()))
    line = re.sub(r"(?<!\\)(\\*)\|", r"\1\1\\|", line)  # a backslash before the bar would take the one that escapes it
    line = line.replace("<", "&lt;").replace("](", "]\\(")
    if "`" in line and ("\\`" in line or "`" in _SPAN.sub("", line)):
        # Backticks without a partner would pair with those of the code that follows.
        line = re.sub(r"(?<!\\)(\\*)`", r"\1\1\\`", line)
    return line


def code(text: str) -> str:
    """Returns text as inline code."""
    line = redaction.line(" ".join(text.split())) or " "
    fence = fence_of([line], shortest=1)
    return f"`{line}`" if fence == "`" else f"{fence} {line} {fence}"


def block(lines: Sequence[str]) -> list[str]:
    """Returns lines as a code block."""
    shown = [redaction.line(line) for line in lines]
    fence = fence_of(shown, shortest=3)
    return [fence, *shown, fence]


def fence_of(lines: Sequence[str], *, shortest: int = 3) -> str:
    """Returns a fence longer than every run of backticks inside, so that no content can end it early."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    return "`" * max(shortest, longest + 1)


_BAR = re.compile(r"(?<!\\)\|")  # in code: a table is cut into cells before anything else is read


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> list[str]:
    """Returns an aligned table; the columns in `numbers` are aligned to the right. Cells are Markdown already."""
    rows = [[_BAR.sub(r"\\|", cell) for cell in row] for row in rows]
    widths = [max(3, *(len(row[column]) for row in [head, *rows])) for column in range(len(head))]
    rule = ["-" * (width - 1) + ":" if column in numbers else "-" * width for column, width in enumerate(widths)]
    return [_row(head, widths, numbers), "| " + " | ".join(rule) + " |", *(_row(row, widths, numbers) for row in rows)]


def _row(cells: Sequence[str], widths: Sequence[int], numbers: Sequence[int]) -> str:
    shown = [
        cell.rjust(width) if column in numbers else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join(shown) + " |"
