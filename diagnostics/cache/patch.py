"""How a cache file becomes a right one: new bytes and ranges of the old file, as data that any applier can use.

A format says what the repaired file consists of; `diagnostics/cache/repair/` makes it so without losing a byte,
whatever interrupts it. Nothing here opens a file.
"""

from __future__ import annotations

from dataclasses import dataclass


class UnrepairableError(Exception):
    """No patch of this file can be right; the message says why, in words for the plan that a person reads."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """`size` bytes of the old file from `offset` on."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """The repaired file.

    `pieces` are the whole new file, in order. `tail`, where it is not empty, makes the old file the same
    repaired one once it stands after the old end: every prefix of old file + tail still reads as the old file,
    the whole as the new one. Formats whose readers look from the end (zip) have one.
    """

    pieces: tuple[ByteRange | bytes, ...]
    changes: tuple[str, ...]  # what is changed, for people: "3 storages cuda:0 -> cpu"
    tail: bytes = b""

    @property
    def size(self) -> int:
        """Bytes of the new file when it is written as a copy."""
        return self.fresh + sum(piece.size for piece in self.pieces if isinstance(piece, ByteRange))

    @property
    def fresh(self) -> int:
        """Bytes of it that the old file does not have."""
        return sum(len(piece) for piece in self.pieces if not isinstance(piece, ByteRange))
