"""One line on stderr that says what runs now and for how long; nothing where stderr is no terminal."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from types import TracebackType
from typing import TextIO

from diagnostics.core.console import ERASE, printable

REDRAW_S = 0.1


class LiveLine:
    """Used in a `with` block, so that the line never stays behind."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.shown = self.stream.isatty()
        self.text = ""
        self.since = 0.0
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> LiveLine:
        if self.shown:
            self.ticker.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopped.set()
        self.clear()

    def show(self, text: str) -> None:
        """Shows this text with running seconds behind it."""
        with self.lock:
            self.text, self.since = text, time.monotonic()
            self._draw()

    def clear(self) -> None:
        """Leaves the line empty for a result."""
        with self.lock:
            if self.shown and self.text:
                self.stream.write(ERASE)
                self.stream.flush()
            self.text = ""

    def _tick(self) -> None:
        while not self.stopped.wait(REDRAW_S):
            with self.lock:
                self._draw()

    def _draw(self) -> None:
        if self.shown and self.text:
            width = shutil.get_terminal_size().columns - 1  # a full line would wrap and could not be erased
            line = printable(f"...   {self.text} {time.monotonic() - self.since:.1f} s")
            self.stream.write(ERASE + line[:width])
            self.stream.flush()
