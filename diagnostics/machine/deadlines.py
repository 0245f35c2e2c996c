"""Runs small tasks side by side until a deadline, without waiting for one that hangs inside the kernel."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Generic[K, V]):
    """What came in time, what was raised instead, and which tasks gave no answer."""

    results: Mapping[K, V]
    errors: Mapping[K, Exception]
    late: tuple[K, ...]


def in_parallel(tasks: Mapping[K, Callable[[], V]], *, deadline_s: float, workers: int = 16) -> Answers[K, V]:
    """Runs all `tasks`, at most `workers` at a time, and returns after the last one or after `deadline_s`.

    The threads are daemons: a task that never comes back holds up neither this call nor the end of the program.
    """
    waiting: queue.SimpleQueue[tuple[K, Callable[[], V]]] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[K, V | Exception]] = queue.SimpleQueue()
    until = time.monotonic() + deadline_s
    for item in tasks.items():
        waiting.put(item)
    for _ in range(min(workers, len(tasks))):
        if not _started(threading.Thread(target=_work, args=(waiting, done, until), daemon=True)):
            break
    results: dict[K, V] = {}
    errors: dict[K, Exception] = {}
    while len(results) + len(errors) < len(tasks):
        try:
            key, answer = done.get(timeout=max(0.001, until - time.monotonic()))
        except queue.Empty:
            break
        if isinstance(answer, Exception):
            errors[key] = answer
        else:
            results[key] = answer
    late = tuple(key for key in tasks if key not in results and key not in errors)
    return Answers(results=results, errors=errors, late=late)


def _started(thread: threading.Thread) -> bool:
    try:
        thread.start()
    except RuntimeError:  # the job has used up what the user may start; those already at work do it all
        return False
    return True


def _work(
    waiting: queue.SimpleQueue[tuple[K, Callable[[], V]]],
    done: queue.SimpleQueue[tuple[K, V | Exception]],
    until: float,
) -> None:
    while time.monotonic() < until:
        try:
            key, task = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            done.put((key, task()))
        except Exception as error:  # handed to the caller, who says what was not captured
            done.put((key, error))
