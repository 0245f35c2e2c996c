"""Works on files in several threads; an interrupt lets each finish the file it is at, and starts no other."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Sequence

from diagnostics.repair.actions import FileOutcome, FilePlan

WAKE_S = 0.2  # a wait without an end would not notice Ctrl-C on every system


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
    done: queue.SimpleQueue[tuple[int, FileOutcome | BaseException]] = queue.SimpleQueue()
    stop = threading.Event()
    for item in enumerate(files):
        waiting.put(item)
    threads = [threading.Thread(target=_serve, args=(waiting, done, stop, work)) for _ in range(min(jobs, len(files)))]
    outcomes: dict[int, FileOutcome] = {}
    interrupted = False
    try:
        for thread in threads:
            thread.start()
        while len(outcomes) < len(files):
            _take(done, outcomes, watch)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        stop.set()
        for thread in itertools.takewhile(lambda one: one.ident is not None, threads):
            thread.join()
    while not done.empty():
        _take(done, outcomes, watch)
    return [outcomes[number] for number in sorted(outcomes)], interrupted


def _take(
    done: queue.SimpleQueue[tuple[int, FileOutcome | BaseException]],
    outcomes: dict[int, FileOutcome],
    watch: Callable[[FileOutcome], None],
) -> None:
    try:
        number, outcome = done.get(timeout=WAKE_S)
    except queue.Empty:
        return
    if isinstance(outcome, BaseException):
        raise outcome
    outcomes[number] = outcome
    watch(outcome)


def _serve(
    waiting: queue.SimpleQueue[tuple[int, FilePlan]],
    done: queue.SimpleQueue[tuple[int, FileOutcome | BaseException]],
    stop: threading.Event,
    work: Callable[[FilePlan], FileOutcome],
) -> None:
    while not stop.is_set():
        try:
            number, plan = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            done.put((number, work(plan)))
        except BaseException as error:  # handed to the main thread, which raises it
            done.put((number, error))
            return
