"""Forked processes that wait for what only a thread of their parent could give them. Pure.

A fork copies memory, with its locks as they are, and one thread. Who waits in such a copy of a lock waits for a thread
that is not there: the kernel shows every thread of the process in a futex of its own memory, without a timeout.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from diagnostics.core import untrusted_json
from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_queries import event_s, events_of, is_alive, text_at, user_frames_of
from diagnostics.dynamic.stall.blocking_lines import lock_at, taken_at
from diagnostics.dynamic.stall.creation_sites import lines_in

_FUTEX = ("202", "98")  # of x86-64 and arm64
_PRIVATE = 0x80  # FUTEX_PRIVATE_FLAG: locks between processes do not have it
_COMMANDS = 0x7F
_WAITS = (0, 9)  # FUTEX_WAIT, FUTEX_WAIT_BITSET
_TAKES = re.compile(r"\bwith\s+([\w.\[\]'\"]+)\s*(?:,|:|as\b)|(?<![\w.\[\]'\"])([\w.\[\]'\"]+)\.acquire\(")
_WAITS_IN_PYTHON = re.compile(r"/(?:threading|queue|_weakrefset)\.py$|/concurrent/futures/")
_CALLS_PYTHON = re.compile(r"\.(?:get|put|wait|join|result|recv|exception)\(")  # C of Python's own: no frame of it
_LOGGING = re.compile(r"/logging/__init__\.py$")
_FEEDS = re.compile(r"/multiprocessing/|/torch/utils/data/|/concurrent/futures/process\.py$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkedLock:
    """A forked process in a wait that nothing in it can end."""

    child: JobProcess
    parent: JobProcess | None
    stands: tuple[Frame, ...]  # the user's lines, innermost first
    lock: str  # as the source calls it; "" where C code waits
    holder: tuple[Frame, ...]  # the lines of the parent's thread that has, or had, the lock
    in_python: bool  # it waits for a lock, queue or event of Python's; else in C code
    sure: bool


def left_locks(job: Job) -> tuple[ForkedLock, ...]:
    """Returns the forked processes that can never go on, by start."""
    found = (_left_lock(job, process) for process in job.processes)
    return tuple(one for one in found if one is not None)


def cannot_wake(job: Job, process: JobProcess) -> bool:
    """Whether the main thread of a process waits, for ever, for another one of the same process that cannot do it.

    The others wait alike, or are servants of multiprocessing, which take no lock of the program's.
    """
    threads = _capture(job, process).get("threads")
    listed = [one for one in threads if isinstance(one, dict)] if isinstance(threads, list) else []
    calls = {one.get("native_id"): str(one.get("system_call") or "") for one in listed}
    if not _waits_for_ever(calls.get(process.pid, "")):
        return False
    servants = sum(any(_FEEDS.search(frame.file) for frame in stack) and not user_frames_of(process, stack)
                   for stack in process.stacks[1:])  # fmt: skip
    return sum(not _waits_for_ever(call) for call in calls.values()) <= servants


def thread_made(job: Job, one: ForkedLock) -> tuple[str, ...]:
    """Returns the lines that make the parent's thread, by the function it runs, in the files where it runs."""
    names = "|".join(dict.fromkeys(re.escape(frame.function.rpartition(".")[2]) for frame in one.holder))
    made = re.compile(rf"\b(?:Thread|Timer|submit)\(.{{0,300}}\b(?:{names})\b")
    files = dict.fromkeys(frame.file for frame in (*one.holder, *one.stands)) if names else ()
    return lines_in(job, files, made)


def others_taking(job: Job, one: ForkedLock) -> tuple[str, ...]:
    """Returns the other lines that take the same lock, in the file where the child stands."""
    if not one.lock or not one.stands:
        return ()
    file = one.stands[0].file
    lines = enumerate(job.sources.file(file).lines, 1)
    found = [(number, taken) for number, text in lines if (taken := _TAKES.search(text)) is not None]
    return tuple(
        job.line(Frame(file=file, line=number, function=""))
        for number, taken in found
        if number != one.stands[0].line and _tail(taken[1] or taken[2]) == _tail(one.lock)
    )


def _left_lock(job: Job, process: JobProcess) -> ForkedLock | None:
    agent = process.agent
    if agent is None or not agent.forked_from or not is_alive(process) or not process.stacks:
        return None
    if not cannot_wake(job, process):
        return None
    main = process.stacks[0]
    stands = user_frames_of(process, main)
    inner = [frame for frame in main if frame not in stands][:1] if stands and main[0] != stands[0] else []
    library = main[: main.index(stands[0])] if stands else main
    lock = "" if library else lock_at(job.sources.file(stands[0].file), stands[0].line)
    in_python = bool(lock) or any(_WAITS_IN_PYTHON.search(frame.file) for frame in library)
    in_python |= not library and bool(stands) and bool(_CALLS_PYTHON.search(text_at(job, stands[0])))
    lock = lock or ("a handler's lock of logging" if any(_LOGGING.search(frame.file) for frame in inner) else "")
    if lock and any(taken_at(job.sources.file(frame.file), frame.line, lock) is not None for frame in stands):
        return None  # it took the lock itself
    parent = job.of_pid(agent.forked_from)
    holder = _holder(job, parent, lock) if parent is not None and lock else ()
    threads = _had_threads(job, parent, process)
    if in_python and not lock and not threads:
        return None  # a queue or event of its own, that nobody serves
    return ForkedLock(
        child=process,
        parent=parent,
        stands=stands,
        lock=lock,
        holder=holder,
        in_python=in_python,
        sure=bool(holder) or not in_python,
    )


def _waits_for_ever(call: str) -> bool:
    """Whether a line of /proc/PID/syscall is a wait in a futex of its own memory, without a timeout."""
    words = call.split()
    if len(words) < 5 or words[0] not in _FUTEX:
        return False
    try:
        operation, timeout = int(words[2], 16), int(words[4], 16)
    except ValueError:
        return False
    return bool(operation & _PRIVATE) and operation & _COMMANDS in _WAITS and timeout == 0


def _tail(name: str) -> str:
    """Returns the last part of a dotted name: one lock is self.lock here and cache.lock there."""
    return name.rpartition(".")[2]


def _holder(job: Job, parent: JobProcess, lock: str) -> tuple[Frame, ...]:
    for stack in parent.stacks:
        own = user_frames_of(parent, stack)
        for index, frame in enumerate(own):
            taken = taken_at(job.sources.file(frame.file), frame.line, lock)
            if taken is not None:
                return (Frame(file=frame.file, line=taken, function=frame.function), *own[index:])
    return ()


def _had_threads(job: Job, parent: JobProcess | None, child: JobProcess) -> bool:
    """Whether the parent had threads beside its main one, and beside those that serve its children, when it forked."""
    if parent is None or parent.agent is None:
        return False
    if any(event_s(job, parent, event.seconds) <= child.began_s for event in events_of(parent, "thread")):
        return True
    return any(user_frames_of(parent, stack) and not _serves(stack) for stack in parent.stacks[1:])


def _serves(stack: Sequence[Frame]) -> bool:
    return any(_FEEDS.search(frame.file) for frame in stack)


def _capture(job: Job, process: JobProcess) -> dict[str, Any]:
    try:
        found = untrusted_json.loads(job.extra.get(f"proc-{process.pid}.json", ""))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
