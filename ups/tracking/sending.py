"""Feeds the trackers of one run from metrics.jsonl, a thread each: one that hangs or fails holds up no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path

from ups.config import UpsConfig
from ups.run_folder import RunFolder
from ups.tracking import Tracker
from ups.tracking.backends import Open
from ups.tracking.feed import Feed, Sent

LOOK_S = 0.5
AGAIN_S = 20.0  # after a tracker could not be reached


class End:
    """Whether the run has ended, and with which code."""

    def __init__(self) -> None:
        self.come, self.exit_code = threading.Event(), 0

    def set(self, exit_code: int) -> None:
        """The run has ended."""
        self.exit_code = exit_code
        self.come.set()


class Sending:
    """One tracker of one run."""

    def __init__(self, name: str, open_: Open, config: UpsConfig, folder: RunFolder, end: End) -> None:
        self.name, self._open, self._config, self._folder, self._end = name, open_, config, folder, end
        self._path = progress_of(folder, name)
        self._sent, self._feed = Sent.load(self._path), Feed(folder.metrics)
        self._sent.finished, self._sent.error = False, ""
        self.thread = threading.Thread(target=self._run, name=f"ups-{name}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while True:
            try:
                self._send_all()
            except Exception as error:  # whatever a tracker's library raises; its rows stay in the file
                self._sent.error = f"{type(error).__name__}: {error}".splitlines()[0]
                self._keep()
                self._feed = Feed(self._folder.metrics)
                if self._end.come.wait(AGAIN_S):
                    return
            else:
                return

    def _send_all(self) -> None:
        tracker = self._open(self._config, self._folder, self._sent, self._keep)
        self._sent.error = ""
        while True:
            ended = self._end.come.is_set()  # before the look: what was written until then is seen by it
            self._send(tracker)
            if ended:
                break
            self._end.come.wait(LOOK_S)
        tracker.finish(self._end.exit_code)
        self._sent.finished = True
        self._keep()

    def _send(self, tracker: Tracker) -> None:
        new = [row for row in self._feed.rows() if self._sent.is_new(row)]
        for row in new:
            tracker.log(row)
            self._sent.add(row)
        if new:
            self._keep()

    def _keep(self) -> None:
        self._sent.save(self._path)


def progress_of(folder: RunFolder, name: str) -> Path:
    """Returns where it is kept how far a tracker is."""
    return folder.tracking / f"{name}.json"


def unsent(folder: RunFolder, name: str) -> int:
    """Returns how many rows a tracker has not been sent."""
    sent = Sent.load(progress_of(folder, name))
    return sum(sent.is_new(row) for row in Feed(folder.metrics).rows())


def has_ended(folder: RunFolder, name: str) -> bool:
    """Whether a tracker knows how the run ended."""
    return Sent.load(progress_of(folder, name)).finished


def finish(sendings: Mapping[str, Sending], folder: RunFolder, within_s: float) -> list[str]:
    """Waits for all trackers, at most so long; returns one sentence for each that did not get everything."""
    until, said = time.monotonic() + within_s, []
    for name, one in sendings.items():
        one.thread.join(max(0.0, until - time.monotonic()))
        sent = Sent.load(progress_of(folder, name))
        if not sent.finished:
            why = sent.error or f"it did not answer within {within_s:g} s"
            left = unsent(folder, name)
            said.append(f"tracker {name} was not sent {left} rows and the end of the run: {why}; ups track sync RUN")
    return said
