"""Signals to the doctor while a job runs, in the order they came; nothing is interrupted by them."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import Any

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP)


class JobSignals:
    """Collects signals while its `with` block runs; those ignored before, as under nohup, stay ignored."""

    def __init__(self) -> None:
        self.fd, self._wakeup = os.pipe()
        for fd in (self.fd, self._wakeup):
            os.set_blocking(fd, False)
        self._before: dict[int, Any] = {}
        self._before_fd = -1

    def __enter__(self) -> JobSignals:
        self._before_fd = signal.set_wakeup_fd(self._wakeup, warn_on_full_buffer=False)
        for number in (*INTERRUPTS, *_PASSED_ON, signal.SIGCHLD):
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGCHLD:
                self._before[number] = signal.signal(number, _noted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        signal.set_wakeup_fd(self._before_fd)
        os.close(self.fd)
        os.close(self._wakeup)

    def take(self) -> list[signal.Signals]:
        """Returns the signals since the last call, oldest first."""
        try:
            return [signal.Signals(number) for number in os.read(self.fd, 4096) if number < signal.SIGRTMIN]
        except BlockingIOError:
            return []


def _noted(number: int, frame: FrameType | None) -> None:
    """Does nothing: the number was written to the wakeup descriptor."""
