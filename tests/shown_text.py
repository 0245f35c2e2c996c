"""What every text that the doctor shows must keep to, whatever a job, a file or a record called its things."""

from __future__ import annotations

import re
from collections.abc import Iterator

_COLOUR = re.compile(r"\033\[[0-9;]*m")
_ROW = re.compile(r"(?<!\\)\|")
_TAG = re.compile(r"<[A-Za-z/!?]")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def unprintable(text: str, *, colour: bool = False) -> list[str]:
    """Returns each character that could move a cursor, colour, reorder or hide text; newlines are none of them.

    `colour` allows the doctor's own colours.
    """
    plain = _COLOUR.sub("", text) if colour else text
    return sorted({char for char in plain if char != "\n" and not char.isprintable()})


def page_faults(page: str) -> list[str]:
    """Returns what a reader of this Markdown would stumble on: controls, raw HTML, links, broken tables and fences."""
    faults = [f"control character {char!r}" for char in unprintable(page)]
    fence = ""
    columns = 0
    for number, line in enumerate(page.split("\n"), 1):
        ticks = re.match(r"`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
            continue
        if ticks and "`" not in line[ticks.end() :]:
            fence, columns = ticks[0], 0
            continue
        faults += [f"line {number}: {fault}: {line[:200]!r}" for fault in _line_faults(line)]
        cells = len(_ROW.findall(line)) if line.startswith("|") else 0
        if cells and columns and cells != columns:
            faults.append(f"line {number}: {cells} instead of {columns} bars: {line[:200]!r}")
        columns = cells
    return [*faults, "a code block has no end"] if fence else faults


def _line_faults(line: str) -> Iterator[str]:
    prose = _CODE.sub("", line)
    if _TAG.search(prose):
        yield "raw HTML"
    if re.search(r"(?<!\\)\]\(", prose):
        yield "a link"
