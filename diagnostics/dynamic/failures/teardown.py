"""Whether a process died only while its interpreter shut down, all work being done. Pure."""

from __future__ import annotations

import signal

from diagnostics.dynamic.failures.native_crash import is_fault
from diagnostics.dynamic.job.evidence import written_by
from diagnostics.dynamic.job.job import ExceptionSource, Job, JobProcess

NO_EXCEPTION = "terminate called without an active exception"


def is_teardown(job: Job, process: JobProcess) -> bool:
    """Whether a fault signal came after the program's last line, and no error of its own came before."""
    if not is_fault(process.end.signal) or not _left_well(process):
        return False
    exited = process.agent is not None and process.agent.last_event("exit") is not None
    if exited:
        return True
    # Without an agent the words alone: std::terminate of a thread that nobody joined, which needs the exit to happen.
    unwatched = process.agent is None or bool(process.agent.problems)
    in_python = process.fault is not None and process.fault.crashed is not None and bool(process.fault.crashed.frames)
    return (
        unwatched
        and not in_python
        and process.end.signal == signal.SIGABRT
        and NO_EXCEPTION in written_by(job, process)
    )


def is_through(job: Job, process: JobProcess) -> bool:
    """Whether a rank finished its program: exit code 0, its exit handlers ran, or it made as many steps as any."""
    if process.end.exit_code == 0 and process.end.signal is None:
        return True
    if process.agent is not None and process.agent.last_event("exit") is not None:
        return _left_well(process)
    most = max((one.steps for one in job.ranks), default=0)
    return (is_fault(process.end.signal) and process.agent is None) or (most > 0 and process.steps == most and process.failed
                                                                  and process.uncaught is None)  # fmt: skip


def _left_well(process: JobProcess) -> bool:
    """Whether it neither raised what nobody caught nor left with a code of its own."""
    if any(one.how in (ExceptionSource.UNCAUGHT, ExceptionSource.SPAWN) for one in process.raised):
        return False
    if process.agent is None:
        return process.uncaught is None
    left = process.agent.last_event("sys.exit", "os._exit")
    return left is None or (left.value == 0 and left.text in ("", "NoneType"))
