"""Hands the terminal to the job and takes it back, as a shell's `fg` does."""

from __future__ import annotations

import os
import signal
from types import TracebackType


class Terminal:
    """The terminal we were started from; all methods do nothing where there is none, or it is not ours."""

    def __init__(self) -> None:
        self._given = False
        self._size: os.terminal_size | None = None
        self._fd: int | None = None
        try:
            self._fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:  # started by cron, a container, a scheduler
            return

    @property
    def is_given(self) -> bool:
        """Whether the job has the terminal."""
        return self._given

    def is_ours(self) -> bool:
        """Whether we are in the foreground."""
        try:
            return self._fd is not None and os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:
            return False

    def size_changed(self) -> bool:
        """Whether the window has another size than at the last call. The kernel tells only the foreground group."""
        try:
            size = os.get_terminal_size(self._fd) if self._fd is not None else None
        except OSError:
            return False
        before, self._size = self._size, size
        return size != before

    def give(self, group: int) -> bool:
        """Makes the job's process group the foreground one; False where we were not in the foreground."""
        if not self.is_ours():
            return False
        self.size_changed()
        self._given = self._set(group)
        return self._given

    def take_back(self) -> None:
        """Makes us the foreground group again."""
        if self._given:
            self._set(os.getpgrp())
            self._given = False

    def _set(self, group: int) -> bool:
        if self._fd is None:
            return False
        # A background process that changes the foreground group is stopped, unless it does not hear of it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
        try:
            os.tcsetpgrp(self._fd, group)
        except OSError:
            return False
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return True

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.take_back()
        if self._fd is not None:
            os.close(self._fd)
