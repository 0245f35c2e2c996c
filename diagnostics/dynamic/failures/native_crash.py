"""What a process left that died of a fault signal: the thread, the line that called native code, the library. Pure.

A child that died of a fault while its parent waited for it: the parent's exception only tells of it.

Processes that a signal from elsewhere ended, and where they stood.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, signal_name
from diagnostics.dynamic.failures.root_exception import RootException
from diagnostics.dynamic.job.evidence import PASSED_ON, ended_s, interrupted_s
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.record.stacks import ThreadStack
from diagnostics.static.program.open_writes import writes_at

ENDED_BY_OTHERS = ("doctor", "launcher")

SLACK_S = 0.5  # an end is noticed later than it happened

FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS}
RECURSION_FRAMES = 50  # equal frames on top of a stack, from which on it is recursion
_LIBRARY = re.compile(r"^([^\s:]+\.so[\w.]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeCrash:
    """Where native code crashed; `frames` are the user's, innermost first.

    `own_thread` is False where the thread that died shows no Python line and another thread's are given in its place.
    `library` is "" where no core dump tells.
    """

    frames: tuple[Frame, ...]
    path: tuple[Frame, ...]  # library frames too
    own_thread: bool
    in_main: bool
    library: str
    recursion: tuple[Frame, ...]  # the cycle of frames that fills the stack, () where it is no recursion


def is_fault(number: int | None) -> bool:
    """Whether a process does this to itself by a fault in native code."""
    return number is not None and number in {one.value for one in FAULTS}


def native_crash(process: JobProcess) -> NativeCrash:
    """Returns where the process was when the signal came, as far as faulthandler, the agent and a core tell."""
    folder = process.agent_folder
    crashed = process.fault.crashed if process.fault is not None else None
    path = crashed.frames if crashed is not None else ()
    frames = user_frames(path, agent_folder=folder)
    own = bool(frames)
    if not frames and process.fault is not None:
        others = [user_frames(thread.frames, agent_folder=folder) for thread in reversed(process.fault.threads)]
        frames = next(filter(None, others), ())
    if not frames and process.death is not None and process.death.frame is not None:
        frames = (process.death.frame,)
    named = next((found[1] for line in process.native if (found := _LIBRARY.match(line)) and _telling(found[1])), "")
    return NativeCrash(
        frames=frames,
        path=path,
        own_thread=own,
        in_main=_in_main(process, crashed),
        library=named,
        recursion=_cycle(path),
    )


def _telling(library: str) -> bool:
    """The C library is where abort() and free() stand, not whose fault it is."""
    return not re.match(r"(?:libc|libpthread|libstdc\+\+|ld-linux)[-.]", library.rpartition("/")[2])


def _in_main(process: JobProcess, crashed: ThreadStack | None) -> bool:
    """Whether the main thread died, which faulthandler writes last."""
    threads = process.fault.threads if process.fault is not None else ()
    return crashed is None or (bool(threads) and threads[-1] is crashed)


def _cycle(path: Sequence[Frame]) -> tuple[Frame, ...]:
    """Returns the shortest run of frames that repeats all over the top of the stack; faulthandler shows 100 of them."""
    for length in range(1, 9):
        run = [(frame.file, frame.function) for frame in path[:length]]
        top = [(frame.file, frame.function) for frame in path[:RECURSION_FRAMES]]
        if len(top) == RECURSION_FRAMES and all(one == run[index % length] for index, one in enumerate(top)):
            return tuple(path[:length])
    return ()


def child_crash(job: Job, process: JobProcess, error: RootException) -> JobProcess | None:
    """Returns the child of `process` that died of a fault signal before `error`, where the error tells of its end.

    It does by its type (a broken pool, a failed command) or by the child's signal or code in its message.
    """
    children = [
        one
        for one in job.children_of(process)
        if is_fault(one.end.signal)
        and one.part not in (ProcessRole.DATA_WORKER, ProcessRole.RANK)
        and one.ended_by in ("", "unknown")
        and ended_s(one) <= error.at_s + SLACK_S
    ]
    told = [one for one in children if PASSED_ON.search(error.type) or _names(error.text, one)]
    return min(told, key=ended_s, default=None)


def _names(text: str, child: JobProcess) -> bool:
    """Whether a text names the signal of a child, as -11, 139, SIGSEGV or "signal 11", or its process."""
    number = child.end.signal or 0
    forms = rf"-{number}|{128 + number}|{signal_name(number)}|signal:? {number}|{child.pid}"
    return bool(re.search(rf"(?<![\w.])(?:{forms})(?![\w.])", text))


def killed_without_trace(job: Job) -> tuple[JobProcess, ...]:
    """Returns the processes that died of a SIGKILL that nobody in the job is known to have sent.

    A launcher that found a rank killed kills the others: those that it is known to have ended are not among them.
    """
    sent = {one.target_pid for one in job.sent if one.signal == signal.SIGKILL}
    stopped_s = interrupted_s(job)
    found = [
        one
        for one in job.processes
        if one.end.signal == signal.SIGKILL
        and one.ended_by in ("", "unknown")
        and one.pid not in sent
        and one.part is not ProcessRole.SHELL
        and ended_s(one) < stopped_s
    ]
    ranks = [one for one in found if one.part in (ProcessRole.RANK, ProcessRole.DATA_WORKER)]
    return tuple(ranks or found)


def stood_at(job: Job, process: JobProcess) -> tuple[str, ...]:
    """Returns the user's lines at which a process was last seen; () where nothing tells."""
    lines = [job.line(process.death.frame)] if process.death is not None and process.death.frame is not None else []
    folder = process.agent_folder
    for stack in process.stacks[:1]:
        lines += [job.line(frame) for frame in user_frames(stack, agent_folder=folder)[:2]]
    return distinct(lines)


def writes_mapped(job: Job, process: JobProcess) -> bool:
    """Whether SIGBUS ended it where it writes a file, as over one that is mapped."""
    frames = native_crash(process).frames[:1] if process.end.signal == signal.SIGBUS else ()
    return any(writes_at(job.sources.file(frame.file), frame.line) for frame in frames)
