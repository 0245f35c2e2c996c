"""What rank 0 shows while it trains: a bar on a terminal, one plain line an epoch everywhere."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Display:
    """Progress of one run on stderr; a display that is not `shown` says nothing."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._console = Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._bar: Progress | None = None
        self._name = ""

    def say(self, text: str) -> None:
        """Prints one line, above the bar if there is one."""
        if self._shown:
            self._console.print(text, markup=False)

    def start(self, name: str, total: int, done: int) -> None:
        """Begins the bar of one stage."""
        self._name = name
        if self._shown and self._console.is_terminal:
            columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.add_task(name, total=total, completed=done)
            self._bar.start()

    def step(self, done: int) -> None:
        """Moves the bar."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)

    def epoch(self, epoch: int, epochs: int, loss: float, error: float, best: float) -> None:
        """Prints the line of one finished epoch; `epoch` counts from 0, shown from 1."""
        mark = "  best" if error <= best else ""
        self.say(f"{self._name} {epoch + 1}/{epochs}  loss {loss:.3e}  validation nRMSE {error:.3e}{mark}")

    def stop(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
