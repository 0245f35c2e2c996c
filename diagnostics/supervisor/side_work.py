"""Work beside the loop that follows a job: one piece at a time; what goes wrong in it is a gap in the record."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from diagnostics.record.supervisor_facts import Missing

JOIN_S = 0.1  # between two looks whether somebody asks to stop


class SideWork:
    """The work of one job. `note` takes what is missing; nothing here raises."""

    def __init__(self, note: Callable[[Sequence[Missing]], None], stop_asked: Callable[[], bool]) -> None:
        self._note, self._stop_asked = note, stop_asked
        self._thread: threading.Thread | None = None

    @property
    def is_on(self) -> bool:
        """Whether a piece of work goes on."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, work: Callable[[], None]) -> bool:
        """Starts work; False where there is some already, or no thread for it."""
        if self.is_on:
            return False
        thread = threading.Thread(target=self.guard, args=("captures", work), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no more threads
            self._note([Missing(what="captures", why=str(error))])
            return False
        self._thread = thread
        return True

    def join(self, deadline_s: float) -> None:
        """Waits for the work, not longer than until somebody asks to stop."""
        until = time.monotonic() + deadline_s
        while self._thread is not None and self.is_on and time.monotonic() < until and not self._stop_asked():
            self._thread.join(JOIN_S)

    def guard(self, what: str, work: Callable[[], object]) -> None:
        """Does `work` here and now."""
        try:
            work()
        except Exception as error:
            self._note([Missing(what=what, why=f"{type(error).__name__}: {error}")])
