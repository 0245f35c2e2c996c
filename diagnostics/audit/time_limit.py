"""How long one question may take: a file that was made to be slow, or happens to be, costs its own answers only."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from diagnostics.static.program.project_file import ProjectFile

# Far beyond what ordinary projects take: the first question about one works out what the others need, too.
QUESTION_S = 10.0
EACH_MIB_S = 10.0
THE_REST = "the rules after it were not asked about this file"


class OutOfTimeError(BaseException):
    """A question took too long; no `except Exception` on the way swallows it."""


def seconds_for(files: Sequence[ProjectFile]) -> float:
    """Returns how much CPU time a question about one of these files may take."""
    return QUESTION_S + EACH_MIB_S * sum(len(file.raw) for file in files) / 2**20


@contextmanager
def at_most(cpu_s: float) -> Iterator[None]:
    """Raises OutOfTimeError inside once that much CPU time is used up; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise OutOfTimeError
