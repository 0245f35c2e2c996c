"""Markdown as plain text of one width: paragraphs and lists are wrapped anew, code stays as it is."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

INDENT = "    "
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_ITEM = re.compile(r"^( *)([-*]|\d+\.) +")
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\([^()]{0,300}\)")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"^\|[ :|-]+\|?$")


def lines_of(markdown: str, width: int) -> Iterator[str]:
    """Yields the lines."""
    waiting: list[str] = []
    in_code = False
    for line in markdown.splitlines():
        if _FENCE.match(line):
            yield from _wrapped(waiting, width)
            in_code = not in_code
        elif in_code:
            yield (INDENT + line).rstrip()
        elif line.startswith("|"):
            yield from _wrapped(waiting, width)
            yield from () if _RULE.match(line) else _row(line, width)
        elif not line.strip() or line.startswith("#"):
            yield from _wrapped(waiting, width)
            yield line.lstrip("#").strip()
        else:
            if _ITEM.match(line):
                yield from _wrapped(waiting, width)
            waiting.append(line)
    yield from _wrapped(waiting, width)


def _wrapped(waiting: list[str], width: int) -> list[str]:
    """Returns the lines that were collected as one paragraph or item, and forgets them."""
    text = " ".join(line.strip() for line in waiting)
    item = _ITEM.match(waiting[0]) if waiting else None
    waiting.clear()
    return _fill(text, width, indent=" " * (len(item[2]) + 1) if item else "")


def _row(line: str, width: int) -> list[str]:
    """Returns a table's row: its first cell, and the others below it."""
    first, *rest = [cell.strip() for cell in _BAR.split(line.strip().strip("|"))]
    told = "; ".join(cell for cell in rest if cell)
    return [*_fill(first, width), *(INDENT + one for one in _fill(told, width - len(INDENT)))]


def _fill(text: str, width: int, indent: str = "") -> list[str]:
    shown = _LINK.sub(r"\1", text).replace("**", "").replace("\\|", "|")
    return textwrap.wrap(
        shown, max(width, 30), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
