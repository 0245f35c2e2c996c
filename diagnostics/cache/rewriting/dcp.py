"""How a part of a distributed checkpoint with foreign device tags becomes one without.

The checkpoint's `.metadata` says where each piece begins and how long it is, so every byte keeps its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from diagnostics.cache.archives.concatenated_zips import Piece, ends_with_archive, from_end, from_start, piece_bytes
from diagnostics.cache.file_bytes import FileBytes
from diagnostics.cache.patch import ByteRange, Patch
from diagnostics.cache.rewriting.pickle_edits import changes
from diagnostics.cache.rewriting.torch_zip import same_length


def repair(file: FileBytes, *, compact: bool) -> Patch | None:
    """Returns the patch that makes every foreign device `cpu`, None where there is nothing to do.

    Raises DamagedFileError and UnrepairableError.
    """
    pieces: list[ByteRange | bytes] = []
    foreign: Counter[str] = Counter()
    at = 0
    for piece in _in_order(file):
        patched = same_length(piece_bytes(file, piece))
        if patched is None:
            continue
        foreign.update(patched[0])
        pieces += (ByteRange(at, piece.begin - at), *_shifted(patched[1], piece.begin))
        at = piece.end
    if not foreign:
        return None
    pieces.append(ByteRange(at, file.size - at))
    return Patch(pieces=tuple(_merged(pieces)), changes=changes(foreign))


def _in_order(file: FileBytes) -> Sequence[Piece]:
    # What follows the pieces at the start, if anything, is a safetensors file: it has no tags.
    return list(from_end(file))[::-1] if ends_with_archive(file) else from_start(file)


def _shifted(pieces: Sequence[ByteRange | bytes], begin: int) -> Iterator[ByteRange | bytes]:
    for piece in pieces:
        yield ByteRange(begin + piece.offset, piece.size) if isinstance(piece, ByteRange) else piece


def _merged(pieces: Sequence[ByteRange | bytes]) -> Iterator[ByteRange | bytes]:
    """Yields the pieces with neighbouring ranges made one: a call of the kernel for each costs more than its bytes."""
    waiting = ByteRange(0, 0)
    for piece in pieces:
        if isinstance(piece, ByteRange) and piece.offset == waiting.offset + waiting.size:
            waiting = ByteRange(waiting.offset, waiting.size + piece.size)
            continue
        if waiting.size:
            yield waiting
        waiting = piece if isinstance(piece, ByteRange) else ByteRange(0, 0)
        if not isinstance(piece, ByteRange):
            yield piece
    if waiting.size:
        yield waiting
