"""Runs independent pieces of work on several processes, in order, few at a time, and ends them all.

Spawned, not forked: a fork would copy the threads' locks of the program that generates.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import wait
from typing import Any

from ups.errors import UpsError


def in_order(work: Callable[..., Any], pieces: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """Yields work(*piece) for each piece, in order; at most two pieces a process are in the air.

    `work` is a function of a module. One job runs here, without a process. However this ends (an
    error, Ctrl-C, the consumer's death by SIGKILL), no process stays behind.
    """
    if jobs <= 1 or len(pieces) <= 1:
        for piece in pieces:
            yield work(*piece)
        return
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(jobs, len(pieces)), mp_context=multiprocessing.get_context("spawn"), initializer=_prepare_worker
    )
    try:
        yield from _windowed(pool, work, pieces, 2 * jobs)
    except BrokenProcessPool as error:
        raise UpsError(
            "a worker process died before its piece was done, the system may have ended it for its memory",
            hint="run again with fewer processes: --jobs 1",
        ) from error
    finally:
        # Ended, not waited for: after Ctrl-C nobody wants what they are still computing.
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
            child.join()


def _windowed(
    pool: ProcessPoolExecutor, work: Callable[..., Any], pieces: Sequence[tuple[Any, ...]], width: int
) -> Iterator[Any]:
    running: deque[Future[Any]] = deque()
    for piece in pieces:
        if len(running) == width:
            yield running.popleft().result()
        with _interrupts_held():
            running.append(pool.submit(work, *piece))
    while running:
        yield running.popleft().result()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Holds SIGINT and SIGTERM back for a moment, so that no worker is left half started.

    Masked, because the process started meanwhile inherits the mask: Ctrl-C reaches the whole process group, and
    an interpreter that is still starting would print a traceback. And remembered, because the mask is one
    thread's: the kernel gives the signal to a thread of numpy or torch, and Python's handler runs in this one.
    """
    with ExitStack() as undo:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        undo.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
        if threading.current_thread() is threading.main_thread():
            _remember(undo)
        yield


def _remember(undo: ExitStack) -> None:
    """Has Python's own handlers called only when `undo` is left; a signal without one is the kernel's affair."""
    came: list[int] = []
    undo.callback(_raise_again, came)
    for number in (signal.SIGINT, signal.SIGTERM):
        handler = signal.getsignal(number)
        if callable(handler):
            signal.signal(number, lambda number, _: came.append(number))
            undo.callback(signal.signal, number, handler)


def _raise_again(numbers: list[int]) -> None:
    for number in dict.fromkeys(numbers):
        signal.raise_signal(number)


def _prepare_worker() -> None:
    threading.Thread(target=_follow_parent, name="follow-parent", daemon=True).start()


def _follow_parent() -> None:
    # A worker also holds the writing end of its own queue: it would never see that a killed parent is gone.
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
