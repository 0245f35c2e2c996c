"""One function over many files, in the files' order and in memory that does not grow with their number.

Works on files in several threads; an interrupt lets each finish the file it is at, and starts no other.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import queue
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection
from typing import TypeVar

from diagnostics.cache.repair.actions import FileOutcome, FilePlan
from diagnostics.core.errors import DoctorError

WAKE_S = 0.2  # a wait without an end would not notice Ctrl-C on every system
# What became of each file by its number; the threads write it, so that no interrupt of the main one loses an entry.
Ended = dict[int, FileOutcome | BaseException]

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


def work_through(
    files: Sequence[FilePlan],
    work: Callable[[FilePlan], FileOutcome],
    *,
    jobs: int,
    watch: Callable[[FileOutcome], None],
) -> tuple[list[FileOutcome], bool]:
    """Returns the outcomes in the files' order, and whether Ctrl-C ended it early.

    Threads, not processes: copying, syncing and reading are done by the kernel meanwhile, and the main thread
    alone is told of signals. An exception of `work` passes, once all threads have ended.
    """
    waiting: queue.SimpleQueue[tuple[int, FilePlan]] = queue.SimpleQueue()
    told: queue.SimpleQueue[int] = queue.SimpleQueue()
    ended: Ended = {}
    stop = threading.Event()
    for item in enumerate(files):
        waiting.put(item)
    arguments = (waiting, ended, told, stop, work)
    threads = [threading.Thread(target=_serve, args=arguments) for _ in range(min(jobs, len(files)))]
    seen, interrupted = 0, False
    try:
        for thread in threads:
            thread.start()
        while seen < len(files):
            seen += _see(told, ended, watch)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        stop.set()
        for thread in itertools.takewhile(lambda one: one.ident is not None, threads):
            thread.join()
    while not told.empty():
        _see(told, ended, watch)
    return [_outcome(ended[number]) for number in sorted(ended)], interrupted


def _see(told: queue.SimpleQueue[int], ended: Ended, watch: Callable[[FileOutcome], None]) -> int:
    """Tells of the next file that has ended; returns how many that were, 0 where none did for a while."""
    try:
        number = told.get(timeout=WAKE_S)
    except queue.Empty:
        return 0
    watch(_outcome(ended[number]))
    return 1


def _outcome(end: FileOutcome | BaseException) -> FileOutcome:
    if isinstance(end, BaseException):
        raise end
    return end


def _serve(
    waiting: queue.SimpleQueue[tuple[int, FilePlan]],
    ended: Ended,
    told: queue.SimpleQueue[int],
    stop: threading.Event,
    work: Callable[[FilePlan], FileOutcome],
) -> None:
    while not stop.is_set():
        try:
            number, plan = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            ended[number] = work(plan)
        except BaseException as error:  # handed to the main thread, which raises it
            ended[number] = error
            stop.set()
        told.put(number)
