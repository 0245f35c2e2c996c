"""The pieces of a `.distcp` file: whole zip archives one after the other, each with offsets of its own.

Found from the end, as each archive's end record says how long it is; a file whose end is no archive is read from
its start as far as is cheap.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.cache.archives.zip_directory import END, END64, FULL16, FULL32, LOCAL, LOCATOR64
from diagnostics.cache.file_bytes import DamagedFileError, FileBytes

MAX_PIECES = 100_000
MAX_PADDING = 64 << 10  # zero bytes between two pieces
FORWARD_BYTES = 4 << 20
_END = struct.Struct("<4s4H2LH")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR64_BYTES = 20


class TooManyPiecesError(DamagedFileError):
    """A limit of ours, which says nothing against the file."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One archive: bytes `begin` to `end` of the file."""

    begin: int
    end: int


@dataclass(slots=True)
class PieceBytes(FileBytes):
    """A piece read as if it were a file of its own; made by `piece_bytes`."""

    whole: FileBytes | None = None
    begin: int = 0

    def read(self, offset: int, length: int) -> bytes:
        """Returns `length` bytes at `offset` of the piece. Raises DamagedFileError where the piece does not reach."""
        if offset < 0 or length < 0 or offset + length > self.size or self.whole is None:
            raise DamagedFileError(f"bytes {offset} to {offset + length} are wanted, the piece has {self.size}")
        at = offset - self.size + len(self.kept_tail)
        return self.kept_tail[at : at + length] if at >= 0 else self.whole.read(self.begin + offset, length)


def piece_bytes(file: FileBytes, piece: Piece) -> PieceBytes:
    """Returns a piece of an open file, to be read like a file."""
    return PieceBytes(path=file.path, fd=file.fd, size=piece.end - piece.begin, whole=file, begin=piece.begin)


def archive_before(file: FileBytes, end: int) -> Piece | None:
    """Returns the archive whose last byte is the one before `end`, None where there is none."""
    if end < _END.size:
        return None
    magic, _, _, _, count, size, offset, comment = _END.unpack(file.read(end - _END.size, _END.size))
    if magic != END or comment:
        return None
    at = end - _END.size
    at64 = at - _LOCATOR64_BYTES - _END64.size
    if at64 >= 0 and file.read(at64 + _END64.size, 4) == LOCATOR64 and file.read(at64, 4) == END64:
        fields = _END64.unpack(file.read(at64, _END64.size))
        at, size, offset = at64, fields[8], fields[9]
    elif count == FULL16 or FULL32 in (size, offset):
        return None
    begin = at - size - offset
    return Piece(begin, end) if begin >= 0 and file.read(begin, 4) == LOCAL else None


def from_end(file: FileBytes) -> Iterator[Piece]:
    """Yields the pieces, the last first. Raises DamagedFileError where the bytes before one end no archive."""
    end = file.size
    for _ in range(MAX_PIECES):
        piece = archive_before(file, end) or archive_before(file, _without_padding(file, end))
        if piece is None:
            raise DamagedFileError(f"no archive ends at byte {end}", place=f"byte {end}")
        yield piece
        end = piece.begin
        if end == 0:
            return
    raise TooManyPiecesError(f"more than {MAX_PIECES:,} pieces")


def ends_with_archive(file: FileBytes) -> bool:
    """Whether the file's last bytes, but for padding, end an archive."""
    return (archive_before(file, file.size) or archive_before(file, _without_padding(file, file.size))) is not None


def _without_padding(file: FileBytes, end: int) -> int:
    begin = max(0, end - MAX_PADDING)
    data = file.read(begin, end - begin)
    at = data.rfind(END)  # the record may itself end with zero bytes
    last = at + _END.size
    return begin + last if at >= 0 and not data[last:].strip(b"\0") else 0


def from_start(file: FileBytes) -> list[Piece]:
    """Returns the whole pieces at the file's start, as far as a few MiB show them."""
    data = file.read(0, min(file.size, FORWARD_BYTES))
    pieces: list[Piece] = []
    begin, at = 0, data.find(END)
    while at >= 0 and len(pieces) < MAX_PIECES:
        end = at + _END.size
        piece = archive_before(file, end) if end <= file.size else None
        if piece is not None and piece.begin == begin:
            pieces.append(piece)
            begin = end
        at = data.find(END, at + 1)
    return pieces
