"""Bytes of one open file into another, by the kernel where it can: the data never pass through this process."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator

from diagnostics.cache.patch import ByteRange

CHUNK_BYTES = 64 << 20  # between two looks at an interrupt
READ_BYTES = 1 << 20
# The kernel or the two file systems cannot: the next way is tried.
UNABLE = frozenset({errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF, errno.ETXTBSY})


def write_pieces(source: int, pieces: Iterable[ByteRange | bytes], target: int) -> int:
    """Writes the pieces one after another at the target's position; returns how many bytes. OSError passes.

    Holes of the source become holes of the target.
    """
    written = 0
    hole = 0
    for piece in pieces:
        if not isinstance(piece, ByteRange):
            write_all(target, piece)
            written, hole = written + len(piece), 0
            continue
        for part in _parts(source, piece):
            if isinstance(part, int):
                os.lseek(target, part, os.SEEK_CUR)
                hole = part
            else:
                copy_range(source, part, target)
                written, hole = written + part.size, 0
    if hole:  # at the end, nothing that is written gives the file its size
        os.ftruncate(target, os.lseek(target, 0, os.SEEK_CUR))
    return written


def _parts(source: int, piece: ByteRange) -> Iterator[ByteRange | int]:
    """Yields the parts of a range that hold data, and the sizes of the holes between them."""
    at, end = piece.offset, piece.offset + piece.size
    while at < end:
        begin = min(_next_data(source, at), end)
        if begin > at:
            yield begin - at
        if begin == end:
            return
        at = min(_next_hole(source, begin), end)
        yield ByteRange(begin, at - begin)


def _next_data(source: int, at: int) -> int:
    """Returns where the next data are; behind the last ones, the end of the file."""
    try:
        return os.lseek(source, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return max(os.fstat(source).st_size, at)
        return at  # a file system that knows no holes


def _next_hole(source: int, at: int) -> int:
    try:
        return os.lseek(source, at, os.SEEK_HOLE)
    except OSError:
        return sys.maxsize


def write_all(fd: int, data: bytes) -> None:
    """Writes all of `data`, however little one call takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def copy_range(source: int, piece: ByteRange, target: int) -> None:
    """Copies a part of the source to the target's position. Raises EIO where the source ends before."""
    at, end = piece.offset, piece.offset + piece.size
    for way in (_in_kernel, _by_sendfile, _through_memory):
        try:
            while at < end:
                copied = way(source, target, at, min(CHUNK_BYTES, end - at))
                if copied == 0:
                    break  # the file's end, or a file system whose sizes this call does not know
                at += copied
        except OSError as error:
            if error.errno not in UNABLE or way is _through_memory:
                raise
        if at == end:
            return
    raise OSError(errno.EIO, f"the file ended at byte {at} while it was copied")


def _in_kernel(source: int, target: int, at: int, size: int) -> int:
    return os.copy_file_range(source, target, size, offset_src=at)


def _by_sendfile(source: int, target: int, at: int, size: int) -> int:
    return os.sendfile(target, source, at, size)


def _through_memory(source: int, target: int, at: int, size: int) -> int:
    data = os.pread(source, min(size, READ_BYTES), at)
    write_all(target, data)
    return len(data)
