"""Scans cache files and folders for what stops or harms a training: device tags, cuts, unsafe pickles.

`scan(paths)` works file by file, in memory that does not grow with their number (details of the first
KEPT_FILES bad files are kept, all are counted). Use it from Python:

    from pathlib import Path
    from diagnostics.cache import scan
    result = scan([Path("cache")])
    print(result.exit_code, result.findings)

With `jobs` above 1 the calling script needs the usual `if __name__ == "__main__":` of multiprocessing.
"""

from __future__ import annotations

import glob
import itertools
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Protocol

from diagnostics.cache_scan import CacheScan, Count
from diagnostics.caches.file_scan import FileScan
from diagnostics.caches.one_file import scan_file
from diagnostics.errors import DoctorError, UsageError

CHUNK_FILES = 256  # one parcel of work for a process
PARALLEL_FROM = 2048  # files; below, starting processes costs more than it saves


class ScanObserver(Protocol):
    """Told of progress, for a live line."""

    def scanned(self, files: int, bad: int) -> None:
        """So many files were looked at, so many of them have a problem."""


class Silent:
    """An observer that shows nothing."""

    def scanned(self, files: int, bad: int) -> None:
        """Shows nothing."""


def scan(paths: Sequence[Path], *, jobs: int = 1, observer: ScanObserver | None = None) -> CacheScan:
    """Returns what the files at and below `paths` hold; an interrupt ends it early with what was found so far.

    Raises UsageError for a path that does not exist, DoctorError if a worker process died.
    """
    began, watch, count = time.monotonic(), observer or Silent(), Count()
    roots = list(itertools.chain.from_iterable(_existing(path) for path in paths))
    interrupted = False
    try:
        for result in scan_files(_files(roots), jobs=jobs):
            count.add(result)
            watch.scanned(count.files, count.bad)
    except KeyboardInterrupt:
        interrupted = True
    return count.finish(roots=roots, seconds=time.monotonic() - began, interrupted=interrupted)


def scan_files(files: Iterable[str], *, jobs: int = 1) -> Iterator[FileScan]:
    """Yields one scan a file, in the files' order, lazily; in `jobs` processes where the files are many."""
    remaining = iter(files)
    first = list(itertools.islice(remaining, PARALLEL_FROM if jobs > 1 else 0))
    if len(first) == PARALLEL_FROM and jobs > 1:
        yield from _in_processes(itertools.chain(first, remaining), jobs)
    else:
        yield from map(scan_file, itertools.chain(first, remaining))


def _in_processes(files: Iterator[str], jobs: int) -> Iterator[FileScan]:
    # Spawn, not fork: the caller may have threads. A few parcels ahead keep all busy and memory flat.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_ignore_interrupt)
    waiting: deque[Future[list[FileScan]]] = deque()
    try:
        while chunk := list(itertools.islice(files, CHUNK_FILES)):
            waiting.append(pool.submit(_scan_chunk, chunk))
            if len(waiting) > 2 * jobs:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        raise DoctorError(
            "a scanning process died; the machine may be out of memory",
            hint="scan in one process, and name fewer files at a time: ups-doctor scan-cache --jobs 1 PATH",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _ignore_interrupt() -> None:
    # Ctrl-C reaches the whole process group; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _scan_chunk(files: list[str]) -> list[FileScan]:
    return [scan_file(file) for file in files]


def _existing(path: Path) -> list[str]:
    if os.path.lexists(path):
        return [str(path)]
    matches = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else []  # noqa: PTH207 - absolute patterns
    if not matches:
        raise UsageError(f"{path}: no such file or folder", hint=f"check the spelling: ls -l {path.parent}")
    return matches


def _files(roots: Iterable[str]) -> Iterator[str]:
    for root in roots:
        if not os.path.isdir(root):  # noqa: PTH112 - a Path for each file costs a third of the scan
            yield root
            continue
        # Links to folders are not followed: they may lead round in a circle.
        for folder, folders, names in os.walk(root, onerror=_refused):
            folders.sort()
            yield from (f"{folder}/{name}" for name in sorted(names))


def _refused(error: OSError) -> None:
    raise DoctorError(
        f"cannot list {error.filename}: {error.strerror}", hint=f"check who owns it: ls -ld {error.filename}"
    )
