"""Whether a process died only while its interpreter shut down, all work being done. Pure."""

from __future__ import annotations

import signal

from diagnostics.dynamic.failures.native_crash import is_fault
from diagnostics.dynamic.job.evidence import written_by
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess

NO_EXCEPTION = "terminate called without an active exception"


def is_teardown(case: Job, story: JobProcess) -> bool:
    """Whether a fault signal came after the program's last line, and no error of its own came before."""
    if not is_fault(story.end.signal) or not _left_well(story):
        return False
    exited = story.agent is not None and story.agent.last_event("exit") is not None
    if exited:
        return True
    # Without an agent the words alone: std::terminate of a thread that nobody joined, which needs the exit to happen.
    unwatched = story.agent is None or bool(story.agent.problems)
    in_python = story.fault is not None and story.fault.crashed is not None and bool(story.fault.crashed.frames)
    return (
        unwatched and not in_python and story.end.signal == signal.SIGABRT and NO_EXCEPTION in written_by(case, story)
    )


def is_through(case: Job, story: JobProcess) -> bool:
    """Whether a rank finished its program: exit code 0, its exit handlers ran, or it made as many steps as any."""
    if story.end.exit_code == 0 and story.end.signal is None:
        return True
    if story.agent is not None and story.agent.last_event("exit") is not None:
        return _left_well(story)
    most = max((one.steps for one in case.ranks), default=0)
    return (is_fault(story.end.signal) and story.agent is None) or (most > 0 and story.steps == most and story.failed
                                                                  and story.uncaught is None)  # fmt: skip


def _left_well(story: JobProcess) -> bool:
    """Whether it neither raised what nobody caught nor left with a code of its own."""
    if any(one.how in (ExceptionSource.UNCAUGHT, ExceptionSource.SPAWN) for one in story.raised):
        return False
    if story.agent is None:
        return story.uncaught is None
    left = story.agent.last_event("sys.exit", "os._exit")
    return left is None or (left.value == 0 and left.text in ("", "NoneType"))
