"""Tracebacks as Python prints them, read from what a process wrote: type, message, frames, and what they followed from.

torchrun puts `[rank0]: ` before each line, srun `0: `; both are taken off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes

_PREFIX = re.compile(r"^(?:\[(?:rank|default)\d+\]: ?|\d{1,5}: (?=Traceback|  File|[A-Z]\w*(?:Error|Exception)))")
_MARGIN = re.compile(r"^ {2,80}\| ?")  # before the lines of an exception group
# torch.distributed.checkpoint puts the rank behind the head of each traceback that it gathered from another one.
_HEAD = re.compile(r"^\s*(?:Original )?Traceback \(most recent call last\):(?: \(RANK (\d{1,6})\))?$")
_HEAD_WORDS = "Traceback (most recent call last):"
_FRAME = re.compile(r'^\s*File "(.{1,1000})", line (\d{1,9})(?:, in (.{1,300}))?$')
_LAST = re.compile(r"^\s{0,8}([A-Za-z_][\w.]{0,200})(?:: (.*))?$")
_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"
MAX_TRACEBACKS = 200
MAX_MESSAGE_LINES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TracebackText:
    """One exception, frames innermost first. `earlier` is what it followed from, `raised_from` if by `raise from`.

    `rank` is the one it was raised on, where the text that carries it says so.
    """

    type: str
    message: str
    frames: tuple[Frame, ...]
    earlier: TracebackText | None = None
    raised_from: bool = False
    rank: int | None = None

    @property
    def first(self) -> TracebackText:
        """The exception at the start of the chain."""
        return self.earlier.first if self.earlier is not None else self


@lru_cache(maxsize=8)  # every signature asks for those of the same few outputs
def plain_lines(text: str) -> tuple[str, ...]:
    """Returns the lines without what launchers, and Python before those of an exception group, put before them."""
    return tuple(_MARGIN.sub("", _PREFIX.sub("", line.rstrip("\r"))) for line in text.split("\n"))


@lru_cache(maxsize=8)
def tracebacks(text: str, homes: Homes = NOWHERE) -> tuple[TracebackText, ...]:
    """Returns the exceptions in `text` in printed order; of a chain only its last one, which leads to the others."""
    begin = text.find(_HEAD_WORDS)
    if begin < 0:
        return ()
    lines = plain_lines(text[text.rfind("\n", 0, begin) + 1 :])  # a log may be long before its first error
    found: list[TracebackText] = []
    index, link = 0, ""
    while index < len(lines) and len(found) < MAX_TRACEBACKS:
        stripped = lines[index].strip()
        if stripped in (_CAUSE, _CONTEXT):
            link = stripped
        elif head := _HEAD.match(lines[index]):
            one, index = _read(lines, index + 1, homes)
            if one is not None:
                earlier = found.pop() if link and found else None
                rank = int(head[1]) if head[1] else None
                found.append(replace(one, earlier=earlier, raised_from=link == _CAUSE, rank=rank))
            link = ""
            continue
        index += 1
    return tuple(found)


def _read(lines: Sequence[str], index: int, homes: Homes) -> tuple[TracebackText | None, int]:
    """Returns the exception whose frames start at `index`, and the first line after it; None for a torn one."""
    frames: list[Frame] = []
    indent: int | None = None  # of the frames' lines
    while index < len(lines):
        line = lines[index]
        if frame := _FRAME.match(line):
            indent = len(line) - len(line.lstrip())
            frames.append(Frame(file=frame[1], line=int(frame[2]), function=frame[3] or ""))
        elif indent is not None and line.strip() and len(line) - len(line.lstrip()) < indent:
            break
        elif indent is None or _HEAD.match(line):
            return None, index
        index += 1
    last = _LAST.match(lines[index]) if index < len(lines) else None
    if last is None:
        return None, index
    more = []
    for line in lines[index + 1 : index + MAX_MESSAGE_LINES]:
        if not line.startswith(("\t", "    ", "  ")) or _HEAD.match(line) or _FRAME.match(line):
            break
        more.append(line)
    message = "\n".join([last[2] or "", *more])
    return TracebackText(type=last[1], message=message, frames=homes.kept(reversed(frames))), index + 1 + len(more)
