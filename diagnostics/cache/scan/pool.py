"""Scans files in several processes, in order, with a bounded number of files under way.

A worker has a process group of its own, so that Ctrl-C reaches the parent alone, and the end of its pipe ends
it, so that none outlives the parent. `multiprocessing` is not used: its workers import the caller's main
module, die of the terminal's signals with a traceback, and one that is killed takes all answers with it.
"""

from __future__ import annotations

import itertools
import json
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import BinaryIO, cast

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.scan.worker import Item, WorkerDiedError, read_message, scan_item, write_message
from diagnostics.core.own_folders import DOCTOR

PARCEL_S = 0.03  # work that a process gets at once; with more the last one would work alone for long
PARCEL_FILES = 128
AHEAD_FILES = 4096  # may wait for one before them that takes long
END_S = 5.0  # a killed process is gone by then

# Isolated and without site: half of the start, and no module of the current folder takes another's place.
PYTHON = (sys.executable, "-I", "-S", "-c")
PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from diagnostics.cache.scan.worker import serve; serve()"
)


@dataclass(slots=True)
class Parcel:
    """Files in the hands of one worker; `scans` are there once it answered."""

    items: Sequence[Item]
    scans: list[FileScan] | None = None


@dataclass(slots=True, eq=False)
class PoolWorker:
    """One process; it has at most one parcel, so that neither side ever waits for the other to read."""

    process: subprocess.Popen[bytes]
    parcel: Parcel | None = None

    @property
    def source(self) -> BinaryIO:
        """What it answers; readable once an answer begins to come."""
        return cast("BinaryIO", self.process.stdout)

    def give(self, parcel: Parcel, *, deep: bool) -> None:
        """Hands files over. Raises WorkerDiedError."""
        self.parcel = parcel
        try:
            write_message(cast("BinaryIO", self.process.stdin).fileno(), (deep, parcel.items))
        except BrokenPipeError:
            raise self._died(parcel) from None

    def take(self) -> float:
        """Waits for the answer, puts it into the parcel, and returns the seconds it took. Raises WorkerDiedError."""
        parcel, self.parcel = cast("Parcel", self.parcel), None
        try:
            seconds, parcel.scans = read_message(self.source.fileno())
        except EOFError:
            raise self._died(parcel) from None
        return float(seconds)

    def _died(self, parcel: Parcel) -> WorkerDiedError:
        code = self.process.wait(END_S)
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        first = next((item for item in parcel.items if isinstance(item, str)), "")
        return WorkerDiedError(f"a scanning process {how} while it had {len(parcel.items)} files, from {first} on")

    def end(self) -> None:
        """Ends the process; what it still had is not wanted any more."""
        self.process.kill()
        self.process.wait(END_S)
        for pipe in (self.process.stdin, self.process.stdout):
            cast("BinaryIO", pipe).close()


def start_worker() -> PoolWorker:
    """Returns a process that is starting; it answers for an empty parcel once it is ready."""
    root = str(DOCTOR.parent)
    places = json.dumps([root, *(place for place in sys.path if place)])
    return PoolWorker(
        subprocess.Popen(
            [*PYTHON, PROGRAM, places],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            process_group=0,
        ),
        parcel=Parcel(()),
    )


@dataclass(slots=True)
class Pool:
    """Used in a `with` block, which ends every process."""

    files: Iterator[Item]
    jobs: int
    deep: bool
    workers: list[PoolWorker] = field(default_factory=list)
    order: deque[Parcel] = field(default_factory=deque)
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    ahead: int = 0  # files in `order`
    parcel_files: int = 4  # grows to what PARCEL_S holds
    answered: bool = False

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self.workers:
            worker.end()
        self.selector.close()

    def scans(self) -> Iterator[FileScan]:
        """Yields the scans in the files' order. Raises WorkerDiedError."""
        for _ in range(self.jobs):
            self.workers.append(worker := start_worker())
            self.selector.register(worker.source, selectors.EVENT_READ, worker)
        while True:
            self._feed()
            if not self.answered:
                self._scan_one()
            if not self.order:
                return
            self._collect()
            while self.order and self.order[0].scans is not None:
                done = self.order.popleft()
                self.ahead -= len(done.items)
                yield from done.scans or ()

    def _feed(self) -> None:
        """Gives every idle process a parcel."""
        for worker in self.workers:
            if worker.parcel is None and (parcel := self._next_parcel(self.parcel_files)):
                worker.give(parcel, deep=self.deep)

    def _scan_one(self) -> None:
        """Scans a file here, while the processes are starting: a short scan is over before they are."""
        if parcel := self._next_parcel(1):
            parcel.scans = [scan_item(item, deep=self.deep) for item in parcel.items]

    def _next_parcel(self, size: int) -> Parcel | None:
        if self.ahead >= AHEAD_FILES:
            return None
        items = list(itertools.islice(self.files, size))
        if not items:
            return None
        self.ahead += len(items)
        self.order.append(parcel := Parcel(items))
        return parcel

    def _collect(self) -> None:
        """Takes the answers that are there; waits for one where this process has nothing else to do."""
        for key, _ in self.selector.select(None if self.answered else 0):
            self._take(key.data)

    def _take(self, worker: PoolWorker) -> None:
        files = len(cast("Parcel", worker.parcel).items)
        seconds = worker.take()
        self.answered = True
        if files:
            fitting = int(files * PARCEL_S / max(seconds, 1e-6))
            self.parcel_files = max(1, min(fitting, 2 * self.parcel_files, PARCEL_FILES))
