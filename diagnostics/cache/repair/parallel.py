"""One function over many files, in the files' order and in memory that does not grow with their number."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection
from typing import TypeVar

from diagnostics.core.errors import DoctorError

T = TypeVar("T")
CHUNK_FILES = 64  # one parcel of work for a process
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PARALLEL_FROM = 1024  # files; below, starting processes costs more than it saves


def over_files(work: Callable[[str], T], files: Iterable[str], *, jobs: int) -> Iterator[tuple[str, T]]:
    """Yields each file with its answer, lazily; in `jobs` processes where the files are many.

    Raises DoctorError if a process died.
    """
    remaining = iter(files)
    first = list(itertools.islice(remaining, PARALLEL_FROM if jobs > 1 else 0))
    if len(first) == PARALLEL_FROM:
        yield from _in_processes(work, itertools.chain(first, remaining), jobs)
    else:
        yield from ((file, work(file)) for file in itertools.chain(first, remaining))


def _in_processes(work: Callable[[str], T], files: Iterator[str], jobs: int) -> Iterator[tuple[str, T]]:
    # Spawn, not fork: the caller may have threads. A few parcels ahead keep all busy and memory flat.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin)
    waiting: deque[Future[list[tuple[str, T]]]] = deque()
    try:
        while parcel := list(itertools.islice(files, CHUNK_FILES)):
            with _signals_held():  # a worker that is just starting would show a traceback of Ctrl-C
                waiting.append(pool.submit(_parcel, work, parcel))
            if len(waiting) > 4 * jobs:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        raise DoctorError(
            "a scanning process died; the machine may be out of memory",
            hint="scan in one process, and name fewer files at a time: ups-doctor fix-cache --jobs 1 PATH",
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _signals_held() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # They reach the whole process group; the parent alone decides what they mean.
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)


def _end_with_parent() -> None:
    # The pool's workers hold both ends of their pipes: a parent that was killed would leave them waiting for good.
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _parcel(work: Callable[[str], T], files: list[str]) -> list[tuple[str, T]]:
    return [(file, work(file)) for file in files]
