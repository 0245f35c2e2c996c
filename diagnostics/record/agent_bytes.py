"""Areas of an agent's file as bytes that may be half-written or hostile: each read is bounded."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from diagnostics.agent.shared import layout
from diagnostics.core.frame import Frame
from diagnostics.core.frame_owners import NOWHERE, Homes

MAX_TEXT = 2048


class AgentFileError(Exception):
    """This is no agent file, or not one that can be read; the argument is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentHeader:
    """The fixed part of the file, and where its areas are."""

    pid: int
    parent_pid: int
    start_ticks: int
    monotonic_ns: int
    wall_ns: int
    forked_from: int
    text: tuple[str, ...]  # KEY=value
    areas: dict[str, bytes]
    problems: tuple[str, ...]


def read_header(data: bytes) -> AgentHeader:
    """Returns the header of an agent's file. Raises AgentFileError where it is none."""
    if len(data) < layout.HEADER_BYTES:
        raise AgentFileError(f"{len(data)} bytes are less than a header of {layout.HEADER_BYTES}")
    if data[:8] == bytes(8):
        raise AgentFileError("the process ended before its header was finished")
    magic, version, header_bytes, pid, parent, ticks, monotonic, wall, forked_from, text_bytes = struct.unpack_from(
        layout.HEADER, data
    )
    if magic != layout.MAGIC:
        raise AgentFileError(f"starts with {magic!r}, not with {layout.MAGIC!r}")
    if version != layout.VERSION or header_bytes != layout.HEADER_BYTES:
        raise AgentFileError(f"has layout version {version}, this doctor reads version {layout.VERSION}")
    text = data[layout.TEXT_OFFSET : layout.TEXT_OFFSET + min(text_bytes, layout.TEXT_BYTES)]
    areas, problems = _areas(data)
    return AgentHeader(
        pid=pid,
        parent_pid=parent,
        start_ticks=ticks,
        monotonic_ns=monotonic,
        wall_ns=wall,
        forked_from=forked_from,
        text=tuple(printable(part) for part in text.split(b"\0") if part),
        areas=areas,
        problems=problems,
    )


def _areas(data: bytes) -> tuple[dict[str, bytes], tuple[str, ...]]:
    areas, problems = {}, []
    for index in range(layout.AREA_COUNT):
        at = layout.AREA_TABLE_OFFSET + index * layout.AREA_ENTRY_BYTES
        raw, offset, length = struct.unpack_from(layout.AREA_ENTRY, data, at)
        name = printable(raw.rstrip(b"\0"))
        if not name:
            continue
        if offset + length > len(data):
            problems.append(f"area {name} ends at byte {offset + length}, the file at {len(data)}")
            continue
        areas[name] = data[offset : offset + length]
    return areas, tuple(problems)


def printable(raw: bytes) -> str:
    """Returns text that cannot move a terminal's cursor: control characters but newline and tab become '?'."""
    text = raw[:MAX_TEXT].decode("utf-8", "replace")
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)


class StringTable:
    """A strings area; an id that points nowhere reads as ''."""

    def __init__(self, area: bytes, homes: Homes = NOWHERE) -> None:
        self._area, self._homes = area, homes

    def raw(self, ident: int) -> bytes:
        """Returns the bytes of one string."""
        if not layout.STRINGS_HEADER_BYTES <= ident <= len(self._area) - 2:
            return b""
        length = int.from_bytes(self._area[ident : ident + 2], "little")
        return self._area[ident + 2 : ident + 2 + min(length, layout.MAX_STRING_BYTES)]

    def text(self, ident: int) -> str:
        """Returns one string as printable text."""
        return printable(self.raw(ident))

    def parts(self, ident: int, count: int) -> tuple[str, ...]:
        """Returns `count` texts that were joined by NUL, '' for those that are missing."""
        found = [printable(part) for part in self.raw(ident).split(b"\0")[:count]]
        return tuple(found + [""] * (count - len(found)))

    def call_path(self, ident: int) -> tuple[Frame, ...]:
        """Returns a call path, innermost frame first."""
        raw = self.raw(ident)
        count = min(len(raw) // 4, layout.MAX_FRAMES)
        frames = (self.parts(frame, 3) for frame in struct.unpack_from(f"<{count}I", raw))
        return self._homes.kept(
            Frame(file=file, line=number(line), function=name) for file, line, name in frames if file
        )


def number(text: str) -> int:
    """Returns a decimal number of at most nine digits, 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
