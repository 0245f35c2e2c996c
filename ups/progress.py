"""What rank 0 shows while it trains: a bar on a terminal, lines everywhere, or one JSON object a line."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

Log = Literal["auto", "plain", "json", "quiet"]  # auto: a bar where there is a terminal, else plain
LOGS: tuple[Log, ...] = ("auto", "plain", "json", "quiet")
BAR_S, LINE_S = 0.5, 30.0  # between two looks at the speed, on a bar and in lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How a stage goes, over the time since the last look."""

    samples_per_s: float
    data_wait: float  # share of the time
    memory_bytes: int
    eta_s: float

    def __str__(self) -> str:
        hours, minutes, seconds = int(self.eta_s // 3600), int(self.eta_s // 60) % 60, int(self.eta_s) % 60
        left = f"{hours}:{minutes:02}:{seconds:02}"
        memory = f"{self.memory_bytes / 2**30:.1f} GiB"
        return f"{self.samples_per_s:.0f} samples/s  data wait {self.data_wait:.0%}  {memory}  {left} left"


class Display:
    """Progress of one run on stderr; a display that is not `shown` says nothing."""

    def __init__(self, *, shown: bool, log: Log = "auto") -> None:
        self._shown, self._json = shown and log != "quiet", log == "json"
        self._console = Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._on_terminal = log == "auto" and self._console.is_terminal
        self._bar: Progress | None = None
        self._name, self._total, self._every_s = "", 0, LINE_S
        self._seen = (0.0, 0, 0, 0.0)  # time, steps, samples, seconds of waiting at the last look
        self.memory: Callable[[], int] = resident_bytes

    def say(self, text: str) -> None:
        """Prints one line, above the bar if there is one."""
        if self._shown and self._json:
            self._event("note", text=text)
        elif self._shown:
            self._console.print(text, markup=False)

    def start(self, name: str, total: int, done: int) -> None:
        """Begins one stage."""
        self._name, self._total, self._seen = name, total, (time.monotonic(), done, 0, 0.0)
        if self._shown and self._on_terminal:
            speed = TextColumn("{task.fields[speed]}")
            self._bar = Progress(
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), speed,
                console=self._console, transient=True,
            )  # fmt: skip
            self._bar.add_task(name, total=total, completed=done, speed="")
            self._bar.start()
        self._every_s = BAR_S if self._bar is not None else LINE_S

    def step(self, done: int, samples: int, waited_s: float) -> None:
        """A step was made: the `done`th; `samples` and `waited_s` are sums over the stage so far."""
        now = time.monotonic()
        if not self._shown or now - self._seen[0] < self._every_s:
            return
        speed = self._speed(now, done, samples, waited_s)
        self._seen = (now, done, samples, waited_s)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, speed=str(speed))
        elif self._json:
            self._event("progress", stage=self._name, step=done, steps=self._total, **asdict(speed))
        else:
            self.say(f"{self._name} step {done} of {self._total}  {speed}")

    def epoch(self, epoch: int, epochs: int, loss: float, error: float, best: float) -> None:
        """Prints the line of one finished epoch; `epoch` counts from 0, shown from 1."""
        if self._shown and self._json:
            self._event(
                "epoch", stage=self._name, epoch=epoch + 1, epochs=epochs, loss=loss, validation_nrmse=error, best=best
            )
            return
        mark = "  best" if error <= best else ""
        self.say(f"{self._name} {epoch + 1}/{epochs}  loss {loss:.3e}  validation nRMSE {error:.3e}{mark}")

    def stop(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _speed(self, now: float, done: int, samples: int, waited_s: float) -> Speed:
        since, steps, before, waited = self._seen
        seconds = now - since
        left = (self._total - done) * seconds / max(1, done - steps)
        return Speed(
            samples_per_s=(samples - before) / seconds,
            data_wait=min(1.0, (waited_s - waited) / seconds),
            memory_bytes=self.memory(),
            eta_s=left,
        )

    def _event(self, kind: str, **values: object) -> None:
        print(json.dumps({"event": kind, "time": round(time.time(), 3), **values}), file=sys.stderr, flush=True)  # noqa: T201


def resident_bytes() -> int:
    """Returns what this process holds in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
