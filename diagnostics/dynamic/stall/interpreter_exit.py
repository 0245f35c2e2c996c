"""Whether a process is on its way out: its interpreter ends, or its training is over. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_queries import called, event_s, events_of, main_stack, runs, user_frames_of

GROUP_ENDED = "process-group-end"
# Functions of the standard library that only an interpreter on its way out calls.
_LEAVING = (
    ("/threading.py", "_shutdown"),
    ("/concurrent/futures/thread.py", "_python_exit"),
    ("/concurrent/futures/process.py", "_python_exit"),
    ("/multiprocessing/util.py", "_exit_function"),
    ("/weakref.py", "finalize._exitfunc"),
    ("/logging/__init__.py", "shutdown"),
)
# What a program calls to end something that ran beside its training.
CLOSES = re.compile(
    r"(?:^|[._])(?:finish|close|join|flush|shutdown|terminate|stop|wait|teardown|cleanup|clean_up|end_training|sync"
    r"|result|finalize|__exit__|__del__|aclose|drain|disconnect|quit|end|done|upload|publish)\w{0,60}$"
)


def is_exiting(process: JobProcess) -> bool:
    """Whether the interpreter of a process is on its way out."""
    ended = process.agent is not None and process.agent.last_event("exit", "alive-at-end") is not None
    main = main_stack(process)
    return ended or stack_is_exiting(main) or exit_handler(process, main) != ""


def stack_is_exiting(main: Sequence[Frame]) -> bool:
    """Whether a stack is in what only an interpreter on its way out runs."""
    return any(runs(frame, *one) for frame in main for one in _LEAVING)


def exit_handler(process: JobProcess, main: Sequence[Frame]) -> str:
    """Returns the exit handler that runs, "module.function", "" for none: the program's lines are not below it."""
    own = user_frames_of(process, main)
    if not own or any(frame.function == "<module>" for frame in main):
        return ""
    names = [event.text for event in events_of(process, "atexit")]
    return next((name for name in reversed(names) if _named(own[-1], name)), "")


def left_its_group(process: JobProcess) -> bool:
    """Whether it left its process group, and neither made one nor asked it anything since."""
    if process.agent is None:
        return False
    ended, begun = process.agent.last_event(GROUP_ENDED), process.agent.last_event("process-group-begin")
    if ended is None or (begun is not None and begun.sequence > ended.sequence):
        return False
    return all(call.sequence < ended.sequence for call in process.agent.collectives)


def in_a_group(process: JobProcess) -> bool:
    """Whether it made a process group, and did not leave it."""
    return bool(events_of(process, "process-group")) and not left_its_group(process)


def work_done_s(job: Job, process: JobProcess) -> float:
    """Returns when a process was last seen at its work, in seconds since the job started: a step, its group's end."""
    ended = [event.seconds for event in events_of(process, GROUP_ENDED)]
    last = process.agent.steps.last_s if process.agent is not None else None
    return event_s(job, process, max([*ended, last or 0.0]))


def _named(frame: Frame, dotted_name: str) -> bool:
    """Whether a frame runs "module.Class.function"."""
    return dotted_name.endswith(f".{frame.function}") or dotted_name.rpartition(".")[2] == called(frame)
