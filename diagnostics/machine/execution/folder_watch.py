"""Tells when a file appears in a folder, through inotify."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_IN_CREATE = 0x100
_EVENT_BYTES = 1 << 14


class FolderWatch:
    """`fd` becomes readable when a file was made; None where the kernel gives no watch: look now and then."""

    def __init__(self, folder: Path) -> None:
        self.fd: int | None = None
        libc = ctypes.CDLL(None, use_errno=True)
        fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if fd < 0:
            return
        if libc.inotify_add_watch(fd, os.fsencode(folder), _IN_CREATE) < 0:
            os.close(fd)
            return
        self.fd = fd

    def clear(self) -> None:
        """Takes all events there are."""
        try:
            while self.fd is not None and os.read(self.fd, _EVENT_BYTES):
                pass
        except BlockingIOError:
            return

    def close(self) -> None:
        """Ends the watch."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None
