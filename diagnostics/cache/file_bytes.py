"""Bounded reads of a file of any size: a file's own lengths and offsets are never trusted."""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import TracebackType

HEAD_BYTES = 8 << 10  # holds data.pkl of a file with few tensors
# Torch finds a zip archive's end record in the last 64 KiB (miniz); most directories fit in 8 KiB.
TAIL_BYTES = 8 << 10
WIDE_TAIL_BYTES = (64 << 10) + 22


class DamagedFileError(Exception):
    """The file does not hold what it says it holds; `truncated` tells a cut from nonsense."""

    def __init__(self, message: str, *, truncated: bool = False, place: str = "") -> None:
        super().__init__(message)
        self.truncated = truncated
        self.place = place


@dataclass(slots=True)
class FileBytes:
    """An open file, read by offset. Use it in a `with` block; OSError passes."""

    path: str
    fd: int = -1
    size: int = 0
    kept_head: bytes = b""
    kept_tail: bytes = b""

    def __enter__(self) -> FileBytes:
        # O_NONBLOCK: a named pipe in the folder must not stop the scan.
        self.fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        self.size = os.fstat(self.fd).st_size
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.fd)

    def read(self, offset: int, length: int) -> bytes:
        """Returns exactly `length` bytes at `offset`. Raises DamagedFileError where the file does not reach."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise DamagedFileError(
                f"bytes {offset} to {offset + length} are wanted, the file has {self.size}", truncated=True
            )
        if offset + length <= len(self.kept_head):
            return self.kept_head[offset : offset + length]
        if (at := offset - self.size + len(self.kept_tail)) >= 0:
            return self.kept_tail[at : at + length]
        data = os.pread(self.fd, length, offset)
        while len(data) < length:
            more = os.pread(self.fd, length - len(data), offset + len(data))
            if not more:
                raise DamagedFileError(f"the file ended at byte {offset + len(data)} while it was read", truncated=True)
            data += more
        return data

    def head(self, length: int = HEAD_BYTES) -> bytes:
        """Returns the first bytes, fewer where the file is shorter."""
        length = min(length, self.size)
        if len(self.kept_head) != length:
            self.kept_head = self.read(0, length)
        return self.kept_head

    def tail(self, length: int = TAIL_BYTES) -> bytes:
        """Returns the last bytes, fewer where the file is shorter."""
        length = min(length, self.size)
        if len(self.kept_tail) != length:
            self.kept_tail = self.read(self.size - length, length)
        return self.kept_tail
