"""Finds the job that a process belongs to, or says in one sentence why there is none to look at."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterable

from diagnostics.attach.job_of_pid import ForeignJob, job_of, jobs_below, process_of
from diagnostics.core import redaction
from diagnostics.core.errors import DoctorError, UsageError
from diagnostics.machine.processes.process_table import TableRow, read_table, thread_owner
from diagnostics.machine.processes.processes import SystemProcesses

UNDECIDED = 3
_SHOWN_JOBS = 4


def find_job(pid: int) -> ForeignJob:
    """Returns the job of `pid`: any process of it, a thread, or a shell above.

    Raises UsageError where there is no such process or no Python in it, DoctorError where it is another user's.
    """
    table = read_table()
    row = table.get(pid) or table.get(thread_owner(pid) or 0)
    if row is None:
        raise _absent(pid, table.values())
    if row.pid == os.getpid():
        raise UsageError(f"pid {pid} is ups-doctor itself", hint="name a process of the job: pgrep -af train.py")
    if row.is_kernel_thread:
        raise UsageError(f"pid {pid} is a thread of the kernel", hint="name a process of the job: pgrep -af train.py")
    if row.state in "ZX":
        raise UsageError(
            f"pid {pid} has ended; only its parent, pid {row.ppid}, has yet to take its exit code",
            hint=f"look at what started it: ups-doctor stacks {row.ppid}",
        )
    if not row.readable and row.uid not in (None, os.geteuid()) and os.geteuid() != 0:
        raise DoctorError(
            f"pid {pid} ({_shown(row)}) belongs to {_user(row)}, and only that user and root may look into it",
            hint=f"sudo {_command_line()}",
            exit_code=UNDECIDED,
        )
    job = job_of(row.pid, table, SystemProcesses().own_family())
    several = jobs_below(job) if not process_of(job.tops[0]).is_python else ()
    if several:
        named = ", ".join(f"{one.pid} ({_shown(one)})" for one in several[:_SHOWN_JOBS])
        raise UsageError(f"below pid {pid} run {len(several)} jobs", hint=f"name one of them: {named}")
    if not any(process_of(one).is_python for one in job.members):
        raise UsageError(
            f"pid {pid} ({_shown(row)}) runs no Python, and nothing below it does",
            hint="name a process of the job: pgrep -af train.py",
        )
    return job


def _absent(pid: int, rows: Iterable[TableRow]) -> UsageError:
    """Returns what to say of a number that no process here has; inside a container one may."""
    inner = [row for row in rows if row.inner_pid == pid]
    if inner:
        named = ", ".join(f"{row.pid} ({_shown(row)})" for row in inner[:_SHOWN_JOBS])
        return UsageError(
            f"this machine has no process {pid}; inside a container there is one",
            hint=f"its number out here: {named}",
        )
    return UsageError(
        f"there is no process {pid}",
        hint="name a process of the job: pgrep -af train.py; one in a container has another number outside",
    )


def _shown(row: TableRow) -> str:
    words = " ".join(redaction.argv(row.argv)) or "no command line"
    return redaction.line(words if len(words) <= 60 else f"{words[:57]}...")


def _user(row: TableRow) -> str:
    try:
        return f"user {pwd.getpwuid(row.uid or 0).pw_name}"
    except KeyError:
        return f"user {row.uid}"


def _command_line() -> str:
    return " ".join(["ups-doctor", *sys.argv[1:]])
