"""Marks of a file that bind root, too: immutable and append-only, as `chattr +i` and `chattr +a` set them."""

from __future__ import annotations

import fcntl
import os
import struct

_GET_FLAGS = 0x80086601  # FS_IOC_GETFLAGS of linux/fs.h, 64 bit
_IMMUTABLE, _APPEND_ONLY = 0x10, 0x20


def is_locked(path: str) -> bool:
    """Whether nobody may change, move or remove the file; False where its file system knows no such marks."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        (flags,) = struct.unpack("i", fcntl.ioctl(fd, _GET_FLAGS, bytes(4)))
    except OSError:
        return False
    finally:
        os.close(fd)
    return bool(flags & (_IMMUTABLE | _APPEND_ONLY))
