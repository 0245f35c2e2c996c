"""Bytes of one open file into another, by the kernel where it can: the data never pass through this process."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable

from diagnostics.caches.patch import Range

CHUNK_BYTES = 64 << 20  # between two looks at an interrupt
READ_BYTES = 1 << 20
# The kernel or the two file systems cannot: the next way is tried.
UNABLE = frozenset({errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF, errno.ETXTBSY})


def write_pieces(source: int, pieces: Iterable[Range | bytes], target: int) -> int:
    """Writes the pieces one after another at the target's position; returns how many bytes. OSError passes."""
    written = 0
    for piece in pieces:
        if isinstance(piece, Range):
            copy_range(source, piece, target)
            written += piece.size
        else:
            write_all(target, piece)
            written += len(piece)
    return written


def write_all(fd: int, data: bytes) -> None:
    """Writes all of `data`, however little one call takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def copy_range(source: int, piece: Range, target: int) -> None:
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
