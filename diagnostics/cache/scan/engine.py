"""Scans cache files and folders for what stops or harms a training: device tags, cuts, unsafe pickles.

`scan(paths)` works file by file, in memory that does not grow with their number (details of the first
KEPT_FILES bad files are kept, all are counted). Use it from Python:

    from pathlib import Path
    from diagnostics.cache.scan.engine import scan
    result = scan([Path("cache")])
    print(result.exit_code, result.findings)
    for key, use in result.keys.items():      # the tensors that carry a foreign device: 'latent', 'state.weight'
        print(key, use.files, use.bytes, use.devices)
    for bad in result.bad_files:
        print(bad.path, bad.facts, bad.problems)

An `observer` hears of each bad file as it is found, also of those after the first KEPT_FILES. `jobs` above 1
scans in processes, started only where the scan lasts long enough to gain by it; no `if __name__ == "__main__":`
is needed.
"""

from __future__ import annotations

import itertools
import signal
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Protocol

from diagnostics.cache.file_scan import FileScan
from diagnostics.cache.scan.files import existing, walk
from diagnostics.cache.scan.result import ScanCounter, ScanResult
from diagnostics.cache.scan.worker import Item, WorkerDiedError, scan_item

ALONE_S = 0.2  # so long one process scans alone: starting another costs half of it


class ScanObserver(Protocol):
    """Told of progress, for a live line."""

    def scanned(self, files: int, bad: int) -> None:
        """So many files were looked at, so many of them have a problem."""

    def found(self, scan: FileScan) -> None:
        """This file has a problem."""


class SilentScan:
    """An observer that shows nothing."""

    def scanned(self, files: int, bad: int) -> None:
        """Shows nothing."""

    def found(self, scan: FileScan) -> None:
        """Shows nothing."""


def scan(
    paths: Sequence[Path], *, jobs: int = 1, deep: bool = False, observer: ScanObserver | None = None
) -> ScanResult:
    """Returns what the files at and below `paths` hold; an interrupt ends it early with what was found so far.

    `deep` reads every byte of the formats that have checksums. Raises UsageError for a path that does not exist.
    """
    began, watch, count = time.monotonic(), observer or SilentScan(), ScanCounter()
    roots = existing(paths)
    interrupted, stopped = False, ""
    try:
        with closing(scan_files(walk(roots), jobs=jobs, deep=deep)) as results:
            for result in results:
                _add(count, result)
                if result.problems:
                    watch.found(result)
                watch.scanned(count.files, count.bad)
    except KeyboardInterrupt:
        interrupted = True
    except WorkerDiedError as error:
        stopped = str(error)
    return count.finish(
        paths=[str(path) for path in paths],
        roots=roots,
        seconds=time.monotonic() - began,
        interrupted=interrupted,
        stopped=stopped,
    )


def _add(count: ScanCounter, result: FileScan) -> None:
    """Counts one more file, wholly: Ctrl-C in the middle of it would leave numbers that contradict each other."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        count.add(result)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def scan_files(files: Iterable[Item], *, jobs: int = 1, deep: bool = False) -> Generator[FileScan, None, None]:
    """Yields one scan a file, in the files' order, lazily; in `jobs` processes where it lasts long enough.

    Raises WorkerDiedError where one of those ended before it answered.
    """
    remaining = iter(files)
    alone_until = time.monotonic() + (0 if deep else ALONE_S)
    for item in remaining:
        if jobs > 1 and time.monotonic() > alone_until:
            from diagnostics.cache.scan.pool import Pool  # a short scan does not wait for its imports

            with Pool(itertools.chain([item], remaining), jobs, deep) as pool:
                yield from pool.scans()
            return
        yield scan_item(item, deep=deep)
