"""One thread that does one piece of work after the other beside the training."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable


class Worker:
    """Work is done in the order in which it was given; it catches its own errors."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._left = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether something is done or waits to be."""
        return self._left > 0

    def do(self, work: Callable[[], None]) -> None:
        """Has `work` done after all that was given before."""
        with self._changed:
            self._left += 1
        if self._thread is None:
            # A daemon: a write that a dead file server never answers does not keep the rank from ending.
            self._thread = threading.Thread(target=self._run, name="ups-checkpoint", daemon=True)
            self._thread.start()
        self._work.put(work)

    def wait(self, timeout_s: float) -> None:
        """Returns as soon as all is done, or after the time."""
        with self._changed:
            self._changed.wait_for(lambda: not self._left, timeout_s)

    def _run(self) -> None:
        while True:
            self._work.get()()
            with self._changed:
                self._left -= 1
                self._changed.notify_all()
