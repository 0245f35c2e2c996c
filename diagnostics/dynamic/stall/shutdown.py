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
from diagnostics.dynamic.job.observations import looks_of
from diagnostics.dynamic.job.process_list import words
from diagnostics.dynamic.job.process_queries import (
    called,
    event_s,
    events_of,
    main_stack,
    own_frames,
    own_lines,
    runs,
    seen_s,
    still_there,
    text_at,
)
from diagnostics.dynamic.stall.creation_sites import in_loop, lines_in_files_of, made_before_start
from diagnostics.dynamic.stall.interpreter_exit import (
    CLOSES,
    GROUP_ENDED,
    exit_handler,
    in_a_group,
    is_leaving,
    leaves,
    left_its_group,
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

    story: JobProcess
    reason: ShutdownCause
    name: str  # of the thread, handler, child; "" unknown
    made: tuple[str, ...]
    stands: tuple[str, ...]
    sure: bool

    @property
    def locations(self) -> tuple[str, ...]:
        """The line that made it, then those where it and the process stand."""
        return distinct([*self.made, *self.stands])


def holdup(case: Job, story: JobProcess) -> ShutdownBlocker | None:
    """Returns what keeps `story` from ending after its work; None where it has work left, or nothing tells."""
    if story.agent is None or not still_there(story) or _was_interrupted(story):
        return None
    if story.agent.last_event("exit") is not None:  # the last exit handler of all: no Python runs any more
        return _native(case, story)
    main = main_stack(story)
    if not main or _moved_since(case, story):
        return None
    for find in (_feeder, _child, _thread, _handler, _loader, _destroy, _program):
        found = find(case, story, main)
        if found is not None:
            return found
    return None


def orphans(case: Job) -> tuple[tuple[JobProcess, JobProcess, tuple[str, ...]], ...]:
    """Returns what outlives the rank that started it: the process, its rank, and the lines that started it."""
    found = []
    for rank in case.ranks:
        if still_there(rank):
            continue
        started = {words(event.text).get("pid", ""): event for event in events_of(rank, "child")}
        for one in case.processes:
            event = started.get(str(one.pid))
            if event is not None and one.parent_pid == rank.pid and still_there(one):
                found.append((one, rank, own_lines(case, rank, event.path)))
    return tuple(found)


def _feeder(case: Job, story: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    if not any(runs(frame, "/multiprocessing/queues.py", "_finalize_join") for frame in main):
        return None
    made = lines_in_files_of(case, story, _QUEUES)
    puts = lines_in_files_of(case, story, _PUTS)
    return ShutdownBlocker(
        story=story, reason=ShutdownCause.FEEDER, name="", made=made[:1], stands=distinct([*puts, *made]), sure=True
    )


def _child(case: Job, story: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    if not any(runs(frame, "/multiprocessing/util.py", "_exit_function") for frame in main):
        return None
    if not any(frame.function.endswith("join") for frame in main):
        return None
    alive = [one for one in case.children_of(story) if still_there(one)]
    started = {int(words(event.text).get("pid", "0")): event for event in events_of(story, "child")}
    child = next((one for one in alive if one.pid in started), None)
    if child is None:
        return None
    event = started[child.pid]
    return ShutdownBlocker(
        story=story,
        reason=ShutdownCause.CHILD,
        name=event.text.partition(" | ")[2].rpartition(" ")[2].removeprefix("__main__."),
        made=distinct(
            [*made_before_start(case, own_frames(story, event.path)), *own_lines(case, story, event.path)[:2]]
        ),
        stands=own_lines(case, child, child.stacks[0])[:1] if child.stacks else (),
        sure=True,
    )


def _thread(case: Job, story: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    pool = any(frame.function == "_python_exit" for frame in main)
    if not pool and not any(runs(frame, "/threading.py", "_shutdown") for frame in main):
        return None
    alive = events_of(story, "alive-at-end")
    others = [stack for stack in story.stacks[1:] if not _is_agents(case, stack)]
    targets = {event.path: event.text.rpartition(" ")[2].rpartition(".")[2] for event in events_of(story, "thread")}
    # Of several that were alive when the interpreter began to leave, those whose function still runs.
    running = [event for event in alive if _runs(targets.get(event.path, ""), others)]
    chosen = running or alive
    standing = [lines for stack in others if (lines := own_lines(case, story, stack))]
    if pool:
        standing = [
            lines for stack in others if _in_pool(stack) and (lines := own_lines(case, story, stack))
        ] or standing
    if not chosen and not standing:
        return None
    made = _made(case, story, [event.path for event in chosen])
    return ShutdownBlocker(
        story=story,
        reason=ShutdownCause.POOL if pool else ShutdownCause.THREAD,
        name=", ".join(dict.fromkeys(event.text.partition(" | ")[2] for event in chosen)),
        made=made,
        stands=distinct([lines[0] for lines in standing]),
        sure=bool(made),
    )


def _handler(case: Job, story: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    name = exit_handler(story, main)
    if not name:
        return None
    event = next(e for e in reversed(events_of(story, "atexit")) if e.text == name)
    return ShutdownBlocker(
        story=story,
        reason=ShutdownCause.HANDLER,
        name=name.removeprefix("__main__."),
        made=own_lines(case, story, event.path)[:1],
        stands=own_lines(case, story, main)[:1],
        sure=True,
    )


def _loader(case: Job, story: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    if not any(called(frame) in ("_shutdown_workers", "_clean_up_worker") for frame in main):
        return None
    made = events_of(story, "dataloader", "dataloader-begin")
    return ShutdownBlocker(
        story=story,
        reason=ShutdownCause.LOADER,
        name="",
        made=distinct([line for event in made[-1:] for line in own_lines(case, story, event.path)[:1]]),
        stands=own_lines(case, story, main)[:1],
        sure=is_leaving(story),
    )


def _destroy(case: Job, story: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    inside = any(called(frame) == "destroy_process_group" for frame in main)
    if not inside:
        return None
    return ShutdownBlocker(
        story=story, reason=ShutdownCause.DESTROY, name="", made=own_lines(case, story, main)[:1], stands=(), sure=True
    )


def _program(case: Job, story: JobProcess, main: Sequence[Frame]) -> ShutdownBlocker | None:
    """Its own last lines: after it left its process group, or outside of every loop in what closes something."""
    own = own_frames(story, main)
    if not own or not (story.steps or left_its_group(story)):
        return None
    if leaves(main):
        return _held(case, story, own, sure=True)
    if has_work_left(case, own):
        return None
    closing = [one for one in _called_by(main, own[0]) if CLOSES.search(called(one)) or _calls_close(case, one)]
    if left_its_group(story):
        return _held(case, story, own, sure=bool(closing))
    if in_a_group(story) or not closing or any(in_loop(case, frame) for frame in own[1:] or own):
        return None
    return _held(case, story, own, sure=False)


def _called_by(main: Sequence[Frame], line: Frame) -> Sequence[Frame]:
    """Returns the line and what it calls, not what works below that: Queue.get waits, and closes nothing."""
    at = next((index for index, frame in enumerate(main) if frame is line), len(main) - 1)
    return main[max(0, at - 1) : at + 1]


def _held(case: Job, story: JobProcess, own: Sequence[Frame], *, sure: bool) -> ShutdownBlocker:
    lines = distinct([case.line(frame) for frame in own])
    return ShutdownBlocker(
        story=story, reason=ShutdownCause.PROGRAM, name=own[0].function, made=lines[:1], stands=lines[1:], sure=sure
    )


def _native(case: Job, story: JobProcess) -> ShutdownBlocker | None:
    if looks_of(case, story).state == "R":  # it still frees what it has, on a busy machine
        return None
    groups = events_of(story, "process-group")
    left = bool(events_of(story, GROUP_ENDED))
    made = () if left else distinct([line for event in groups[-1:] for line in own_lines(case, story, event.path)[:1]])
    return ShutdownBlocker(story=story, reason=ShutdownCause.NATIVE, name="", made=made, stands=(), sure=False)


def _was_interrupted(story: JobProcess) -> bool:
    """Whether it leaves since it was asked to: its work was not done."""
    return any(INTERRUPTED.match(one.text) for one in story.raised)


def _moved_since(case: Job, story: JobProcess) -> bool:
    """Whether it recorded anything after it was captured last: its stack tells of earlier then."""
    seen = seen_s(case, story)
    last = max((event.seconds for event in story.agent.events), default=0.0) if story.agent is not None else 0.0
    return seen is not None and event_s(case, story, last) > seen


def _made(case: Job, story: JobProcess, paths: Sequence[Sequence[Frame]]) -> tuple[str, ...]:
    """Returns the lines that made what was started on these paths, then those that started it."""
    built = [line for path in paths for line in made_before_start(case, own_frames(story, path))]
    return distinct([*built, *(line for path in paths for line in own_lines(case, story, path)[:1])])


def _runs(function: str, stacks: Sequence[Sequence[Frame]]) -> bool:
    return any(called(frame) == function for stack in stacks for frame in stack)


def _in_pool(stack: Sequence[Frame]) -> bool:
    return any(frame.file.endswith("/concurrent/futures/thread.py") for frame in stack)


def _is_agents(case: Job, stack: Sequence[Frame]) -> bool:
    return not stack or all(frame.file.startswith(tuple(case.agent_folders)) for frame in stack)


def _calls_close(case: Job, frame: Frame) -> bool:
    """Whether the line calls something that closes: `run.finish()` that was entered by no Python of its own."""
    return any(CLOSES.search(name) for name in re.findall(r"(?<![\w.])([\w.]+)\(", text_at(case, frame)))
