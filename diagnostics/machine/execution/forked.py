"""Work in a copy of this process, which can be ended at any moment: a thread can not, and code in C hears no signal.

with Forked(lambda send: send(answer())) as copy:
    value = copy.receive(time.monotonic() + 5.0)
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from diagnostics.machine.execution.readiness import readable

_PR_SET_PDEATHSIG = 1
_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)
TOLD = signal.SIGUSR1  # what `tell` sends; it waits until the work unblocks it
_LENGTH = struct.Struct("<Q")
_CHUNK_BYTES = 1 << 20


class NoAnswerError(Exception):
    """The copy ended without the answer; the argument says how."""


class Forked:
    """Runs `work(send)` in a copy of this process; nothing of it is left behind. Raises OSError where none starts.

    Signals from the terminal are not heard there: who waits for it hears them, and ends it. Only what this process
    itself sent over the pipe is unpickled.
    """

    def __init__(self, work: Callable[[Callable[[Any], None]], None]) -> None:
        self.fd, writing = os.pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (*_STOPS, TOLD))  # none may come before it is ignored there
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _work(work, writing)
        except OSError:
            os.close(self.fd)
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(writing)
        self._received = bytearray()
        self._how = ""

    def receive(self, until_s: float, *, wake: Sequence[int] = ()) -> Any:
        """Returns the next value; None where none came until then, or where a descriptor of `wake` can be read.

        Raises NoAnswerError where the copy has ended.
        """
        while (value := self._next()) is None:
            left_s = until_s - time.monotonic()
            if self.fd not in readable((self.fd, *wake), left_s):
                return None
            data = os.read(self.fd, _CHUNK_BYTES)
            if not data:
                self.end()
                raise NoAnswerError(self._how)
            self._received += data
        return value

    @property
    def is_telling(self) -> bool:
        """Whether a value has begun to come: the copy does nothing but write it until it is whole."""
        return bool(self._received)

    def tell(self) -> None:
        """Sends TOLD to the copy, where it lives."""
        if not self._how:
            with suppress(ProcessLookupError):
                os.kill(self.pid, TOLD)

    def end(self) -> None:
        """Ends the copy where it has not ended by itself."""
        if self._how:
            return
        os.close(self.fd)
        try:
            os.kill(self.pid, signal.SIGKILL)
            status = os.waitpid(self.pid, 0)[1]
            code = os.waitstatus_to_exitcode(status)
            self._how = f"it died of {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}"
        except (ProcessLookupError, ChildProcessError):  # somebody who reaps every child of ours was faster
            self._how = "it ended"

    def __enter__(self) -> Forked:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def _next(self) -> Any:
        if len(self._received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._received)
        end = _LENGTH.size + length
        if len(self._received) < end:
            return None
        value = pickle.loads(bytes(self._received[_LENGTH.size : end]))  # noqa: S301 - from ourselves
        del self._received[:end]
        return value


def _work(work: Callable[[Callable[[Any], None]], None], writing: int) -> None:
    """Does the work and ends the process; whatever happens, nothing of the caller's goes on here."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.set_wakeup_fd(-1)
        for number in _STOPS:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
        work(lambda value: _send(writing, value))
        code = 0
    finally:
        os._exit(code)


def _send(fd: int, value: Any) -> None:
    data = pickle.dumps(value)
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(fd, view) :]
