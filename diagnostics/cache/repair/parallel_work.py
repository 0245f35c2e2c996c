"""Works on files in several threads; an interrupt lets each finish the file it is at, and starts no other."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Sequence

from diagnostics.cache.repair.actions import FileOutcome, FilePlan

WAKE_S = 0.2  # a wait without an end would not notice Ctrl-C on every system
# What became of each file by its number; the threads write it, so that no interrupt of the main one loses an entry.
Ended = dict[int, FileOutcome | BaseException]


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
