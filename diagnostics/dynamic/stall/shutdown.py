"""What a process waits for after its work is done: a thread, a child, an exit handler, a queue, a teardown. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.core.frame import Frame
from diagnostics.core.wording import distinct
from diagnostics.dynamic.job.attribution import INTERRUPTED
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.observations import observations_of
from diagnostics.dynamic.job.process_list import words
from diagnostics.dynamic.job.process_queries import (
    called,
    event_s,
    events_of,
    is_alive,
    main_stack,
    own_lines,
    runs,
    seen_s,
    text_at,
    user_frames_of,
)
from diagnostics.dynamic.stall.creation_sites import creation_site, in_loop, lines_in_files_of
from diagnostics.dynamic.stall.interpreter_exit import (
    CLOSES,
    GROUP_ENDED,
    exit_handler,
    in_a_group,
    is_exiting,
    left_its_group,
    stack_is_exiting,
)
from diagnostics.dynamic.stall.remaining_work import has_work_left

_QUEUES = re.compile(r"\b(?:Joinable|Simple)?Queue\(|\.Manager\(")
_PUTS = re.compile(r"\.put(?:_nowait)?\(")


class ShutdownCause(StrEnum):
    """What holds a process up."""

    THREAD = "thread"
    POOL = "pool"
    CHILD = "child"
    FEEDER = "feeder"  # the thread that writes what was put into a multiprocessing queue
    HANDLER = "handler"  # atexit
    LOADER = "loader"
    DESTROY = "destroy"
    NATIVE = "native"  # after the last line of Python
    PROGRAM = "program"  # its own last lines: tracker.finish(), writer.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShutdownBlocker:
    """Why a process that did all its work does not end. Locations are best first: made, then where it stands."""

    process: JobProcess
    reason: ShutdownCause
    name: str  # of the thread, handler, child; where the parent joins without reading; "" unknown
    made: tuple[str, ...]
    stands: tuple[str, ...]
    sure: bool

    @property
    def locations(self) -> tuple[str, ...]:
        """The line that made it, then those where it and the process stand."""
        return distinct([*self.made, *self.stands])


def holdup(job: Job, process: JobProcess) -> ShutdownBlocker | None:
    """Returns what keeps `process` from ending after its work; None where it has work left, or nothing tells."""
    if process.agent is None or not is_alive(process) or _was_interrupted(process):
        return None
    if process.agent.last_event("exit") is not None:  # the last exit handler of all: no Python runs any more
        return _native(job, process)
    main = main_stack(process)
    if not main or _moved_since(job, process):
        return None
    for find in (_feeder, _child, _thread, _handler, _loader, _destroy, _program):
        found = find(job, process, main)
        if found is not None:
            return found
    return None


def orphans(job: Job) -> tuple[tuple[JobProcess, JobProcess, tuple[str, ...]], ...]:
    """Returns what outlives the rank that started it: the process, its rank, and the lines that started it."""
    found = []
    for rank in job.ranks:
        if is_alive(rank):
            continue
        started = {words(event.text).get("pid", ""): event for event in events_of(rank, "child")}
        for one in job.processes:
            event = started.get(str(one.pid))
            if event is not None and one.parent_pid == rank.pid and is_alive(one):
                found.append((one, rank, own_lines(job, rank, event.path)))
    return tuple(found)


def _feeder(job: Job, process: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    if not any(runs(frame, "/multiprocessing/queues.py", "_finalize_join") for frame in main):
        return None
    made = lines_in_files_of(job, process, _QUEUES)
    puts = lines_in_files_of(job, process, _PUTS)
    reader = _joins(job, process)
    return ShutdownBlocker(
        process=process,
        reason=ShutdownCause.FEEDER,
        name="".join(reader[:1]),
        made=distinct([*reader[:1], *made[:1]]),
        stands=distinct([*puts, *made]),
        sure=True,
    )


def _joins(job: Job, process: JobProcess) -> tuple[str, ...]:
    """Returns the line at which the parent waits for this process's end, where it does: it reads nothing there."""
    parent = job.of_pid(process.parent_pid)
    stack = main_stack(parent) if parent is not None else ()
    waits = any(runs(frame, "/multiprocessing/process.py", "join") for frame in stack)
    return own_lines(job, parent, stack) if parent is not None and waits else ()


def _child(job: Job, process: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    if not any(runs(frame, "/multiprocessing/util.py", "_exit_function") for frame in main):
        return None
    if not any(frame.function.endswith("join") for frame in main):
        return None
    alive = [one for one in job.children_of(process) if is_alive(one)]
    started = {int(words(event.text).get("pid", "0")): event for event in events_of(process, "child")}
    child = next((one for one in alive if one.pid in started), None)
    if child is None:
        return None
    event = started[child.pid]
    return ShutdownBlocker(
        process=process,
        reason=ShutdownCause.CHILD,
        name=event.text.partition(" | ")[2].rpartition(" ")[2].removeprefix("__main__."),
        made=distinct(
            [*creation_site(job, user_frames_of(process, event.path)), *own_lines(job, process, event.path)[:2]]
        ),
        stands=own_lines(job, child, child.stacks[0])[:1] if child.stacks else (),
        sure=True,
    )


def _thread(job: Job, process: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    pool = any(frame.function == "_python_exit" for frame in main)
    if not pool and not any(runs(frame, "/threading.py", "_shutdown") for frame in main):
        return None
    alive = events_of(process, "alive-at-end")
    others = [stack for stack in process.stacks[1:] if not _is_agents(job, stack)]
    targets = {event.path: event.text.rpartition(" ")[2].rpartition(".")[2] for event in events_of(process, "thread")}
    # Of several that were alive when the interpreter began to leave, those whose function still runs.
    running = [event for event in alive if _runs(targets.get(event.path, ""), others)]
    chosen = running or alive
    standing = [lines for stack in others if (lines := own_lines(job, process, stack))]
    if pool:
        standing = [
            lines for stack in others if _in_pool(stack) and (lines := own_lines(job, process, stack))
        ] or standing
    if not chosen and not standing:
        return None
    made = _made(job, process, [event.path for event in chosen])
    return ShutdownBlocker(
        process=process,
        reason=ShutdownCause.POOL if pool else ShutdownCause.THREAD,
        name=", ".join(dict.fromkeys(event.text.partition(" | ")[2] for event in chosen)),
        made=made,
        stands=distinct([lines[0] for lines in standing]),
        sure=bool(made),
    )


def _handler(job: Job, process: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    name = exit_handler(process, main)
    if not name:
        return None
    event = next(e for e in reversed(events_of(process, "atexit")) if e.text == name)
    return ShutdownBlocker(
        process=process,
        reason=ShutdownCause.HANDLER,
        name=name.removeprefix("__main__."),
        made=own_lines(job, process, event.path)[:1],
        stands=own_lines(job, process, main)[:1],
        sure=True,
    )


def _loader(job: Job, process: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    if not any(called(frame) in ("_shutdown_workers", "_clean_up_worker") for frame in main):
        return None
    made = events_of(process, "dataloader", "dataloader-begin")
    return ShutdownBlocker(
        process=process,
        reason=ShutdownCause.LOADER,
        name="",
        made=distinct([line for event in made[-1:] for line in own_lines(job, process, event.path)[:1]]),
        stands=own_lines(job, process, main)[:1],
        sure=is_exiting(process),
    )


def _destroy(job: Job, process: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    inside = any(called(frame) == "destroy_process_group" for frame in main)
    if not inside:
        return None
    return ShutdownBlocker(
        process=process,
        reason=ShutdownCause.DESTROY,
        name="",
        made=own_lines(job, process, main)[:1],
        stands=(),
        sure=True,
    )


def _program(job: Job, process: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    """Its own last lines: after it left its process group, or outside of every loop in what closes something."""
    own = user_frames_of(process, main)
    if not own or not (process.steps or left_its_group(process)):
        return None
    if stack_is_exiting(main):
        return _held(job, process, own, sure=True)
    if has_work_left(job, own):
        return None
    closing = [one for one in _called_by(main, own[0]) if CLOSES.search(called(one)) or _calls_close(job, one)]
    if left_its_group(process):
        return _held(job, process, own, sure=bool(closing))
    if in_a_group(process) or not closing or any(in_loop(job, frame) for frame in own[1:] or own):
        return None
    return _held(job, process, own, sure=False)


def _called_by(main: Sequence[Frame], line: Frame) -> Sequence[Frame]:
    """Returns the line and what it calls, not what works below that: Queue.get waits, and closes nothing."""
    at = next((index for index, frame in enumerate(main) if frame is line), len(main) - 1)
    return main[max(0, at - 1) : at + 1]


def _held(job: Job, process: JobProcess, own: Sequence[Frame], *, sure: bool) -> ShutdownBlocker:
    lines = distinct([job.line(frame) for frame in own])
    return ShutdownBlocker(
        process=process, reason=ShutdownCause.PROGRAM, name=own[0].function, made=lines[:1], stands=lines[1:], sure=sure
    )


def _native(job: Job, process: JobProcess) -> ShutdownBlocker | None:
    if observations_of(job, process).state == "R":  # it still frees what it has, on a busy machine
        return None
    groups = events_of(process, "process-group")
    left = bool(events_of(process, GROUP_ENDED))
    made = () if left else distinct([line for event in groups[-1:] for line in own_lines(job, process, event.path)[:1]])
    return ShutdownBlocker(process=process, reason=ShutdownCause.NATIVE, name="", made=made, stands=(), sure=False)


def _was_interrupted(process: JobProcess) -> bool:
    """Whether it leaves since it was asked to: its work was not done."""
    return any(INTERRUPTED.match(one.text) for one in process.raised)


def _moved_since(job: Job, process: JobProcess) -> bool:
    """Whether it recorded anything after it was captured last: its stack tells of earlier then."""
    seen = seen_s(job, process)
    last = max((event.seconds for event in process.agent.events), default=0.0) if process.agent is not None else 0.0
    return seen is not None and event_s(job, process, last) > seen


def _made(job: Job, process: JobProcess, paths: Sequence[Sequence[Frame]]) -> tuple[str, ...]:
    """Returns the lines that made what was started on these paths, then those that started it."""
    built = [line for path in paths for line in creation_site(job, user_frames_of(process, path))]
    return distinct([*built, *(line for path in paths for line in own_lines(job, process, path)[:1])])


def _runs(function: str, stacks: Sequence[Sequence[Frame]]) -> bool:
    return any(called(frame) == function for stack in stacks for frame in stack)


def _in_pool(stack: Sequence[Frame]) -> bool:
    return any(frame.file.endswith("/concurrent/futures/thread.py") for frame in stack)


def _is_agents(job: Job, stack: Sequence[Frame]) -> bool:
    return not stack or all(frame.file.startswith(tuple(job.agent_folders)) for frame in stack)


def _calls_close(job: Job, frame: Frame) -> bool:
    """Whether the line calls something that closes: `run.finish()` that was entered by no Python of its own."""
    return any(CLOSES.search(name) for name in re.findall(r"(?<![\w.])([\w.]+)\(", text_at(job, frame)))
