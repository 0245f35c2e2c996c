"""Signals to the doctor while a job runs, in the order they came; nothing is interrupted by them.

While the job lives, what they mean is up to the loop that follows it. Who asks to stop once it is over, or asks again
while it is being ended, is in haste: all that is left to do ends by `end_by_s`.
"""

from __future__ import annotations

import os
import signal
import time
from types import FrameType, TracebackType
from typing import Any

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP)
HURRIED_S = 2.0  # for all that is left to do, so that the command ends within 3 s


class JobSignals:
    """Collects signals while its `with` block runs; those ignored before, as under nohup, stay ignored."""

    def __init__(self) -> None:
        self.fd, self._wakeup = os.pipe()
        for fd in (self.fd, self._wakeup):
            os.set_blocking(fd, False)
        self._before: dict[int, Any] = {}
        self._before_fd = -1
        self._seen: list[signal.Signals] = []  # read and not taken yet
        self.end_by_s: float | None = None  # time.monotonic(); None while there is no haste

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
        self._read()
        taken, self._seen = self._seen, []
        return taken

    def stop_asked(self) -> bool:
        """Whether there is haste, or a signal that asks to stop was not taken yet: nothing is to be waited for."""
        self._read()
        return self.end_by_s is not None or any(number in INTERRUPTS for number in self._seen)

    def hurry(self) -> None:
        """From now on there is haste."""
        if self.end_by_s is None:
            self.end_by_s = time.monotonic() + HURRIED_S

    def is_over(self) -> bool:
        """Whether the time that haste leaves is used up."""
        return self.end_by_s is not None and time.monotonic() >= self.end_by_s

    def until_s(self) -> float | None:
        """After the job: takes the signals, and returns `end_by_s` by them."""
        if any(number in INTERRUPTS for number in self.take()):
            self.hurry()
        return self.end_by_s

    def _read(self) -> None:
        try:
            self._seen += [signal.Signals(number) for number in os.read(self.fd, 4096) if number < signal.SIGRTMIN]
        except BlockingIOError:
            return


def _noted(number: int, frame: FrameType | None) -> None:
    """Does nothing: the number was written to the wakeup descriptor."""
