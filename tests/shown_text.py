"""What every text that the doctor shows must keep to, whatever a job, a file or a record called its things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

_COLOUR = re.compile(r"\033\[[0-9;]*m")
_ROW = re.compile(r"(?<!\\)\|")
_TAG = re.compile(r"<[A-Za-z/!?]")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def unprintable(text: str, *, colour: bool = False) -> list[str]:
    """Returns each character that could move a cursor, colour or hide text: no newline, no tab.

    `colour` allows the doctor's own colours.
    """
    plain = _COLOUR.sub("", text) if colour else text
    return sorted({char for char in plain if char not in "\n\t" and not char.isprintable()})


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


# What a hostile or unlucky job may call its things.
HOSTILE = (
    "\x1b[2J\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "a\rb\x08\x7f", "line\nline", "\u202egnp.exe\u2066",
    "</details><img src=x onerror=alert(1)>", "<!-- ", "a|b\\|c", "`", "``` x", "\\`<b>`", "![x](http://x/y.png)",
    "[x](javascript:alert(1))", "# h", "\u2028", "\ud800", "\x00", "~~~", "&lt;", "\u00ad\u200b", "|", "\\",
)  # fmt: skip


OURS = ("code", "stage")  # names of our own plugins


def poisoned(value: object, text: str) -> Any:
    """Returns a value with every text in it, of dataclasses and collections too, replaced by `text`; enums stay."""
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value,
            **{
                one.name: poisoned(getattr(value, one.name), text)
                for one in fields(value)
                if one.init and one.name not in OURS
            },
        )
    if isinstance(value, str) and not isinstance(value, Enum):
        return text
    if isinstance(value, tuple):
        return tuple(poisoned(one, text) for one in value)
    if isinstance(value, list):
        return [poisoned(one, text) for one in value]
    if isinstance(value, dict):
        return {key: poisoned(one, text) for key, one in value.items()}
    return value
