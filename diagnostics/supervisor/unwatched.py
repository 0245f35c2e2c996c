"""Where a job cannot be watched at all it runs as it would without the doctor, and a sentence says why."""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from diagnostics.core import redaction
from diagnostics.core.console import say
from diagnostics.machine.execution.readiness import readable
from diagnostics.machine.processes.job_processes import Member
from diagnostics.record.supervisor_facts import Missing
from diagnostics.supervisor.facts_file import end_of
from diagnostics.supervisor.signals import SignalInbox
from diagnostics.supervisor.start import refusal

LEAST_FILES = 24  # descriptors with which the doctor itself gets along
LONGEST_WAIT_S = 0.5


def too_few_files() -> str:
    """Returns "" or why the limit of open files does not suffice. It is the job's, too: it is not raised."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= LEAST_FILES:
        return ""
    return f"only {soft} files may be open at once, the doctor needs {LEAST_FILES}: ulimit -n 1024"


def run_unwatched(command: Sequence[str], why: str, *, quiet: bool) -> int:
    """Becomes the job. Returns, with the exit code of a shell, only where the command cannot be started."""
    if not quiet:
        say(f"ups-doctor: the job runs unwatched, and there will be no report: {why}", err=True)
    sys.stderr.flush()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores both, and what is ignored stays so
        signal.signal(number, signal.SIG_DFL)
    try:
        try:
            os.execvp(command[0], list(command))  # noqa: S606 - a program and its arguments, never a shell
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            os.execv("/bin/sh", ["/bin/sh", *command])  # noqa: S606 - a script without a first line, as a shell does it
    except OSError as error:
        message, code = refusal(command[0], error)
        say(f"ups-doctor: {message}", err=True)
        return code


def lacks(error: BaseException | None) -> bool:
    """Whether an error says that something has run out: processes, memory, descriptors."""
    return isinstance(error, OSError) and error.errno in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)


def fault(error: Exception) -> Missing:
    """Returns what the report says of a fault of the doctor's own."""
    return Missing(what="the watch", why=redaction.text("".join(traceback.format_exception(error, limit=-2))))


def wait_plainly(root: Member, signals: SignalInbox, now: Callable[[], float]) -> dict[str, Any]:
    """Waits for the job's first process, which leads its group, and passes signals on; returns what is known then.

    This is what is left to do where the watch itself has failed.
    """
    while root.status is None:
        try:
            ended, status = os.waitpid(root.pid, os.WNOHANG)
        except ChildProcessError:  # somebody else has waited for it
            break
        if ended:
            root.status = status
            break
        readable([signals.fd], LONGEST_WAIT_S)
        for number in signals.take():
            if number != signal.SIGCHLD:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(root.pid, number)
    root.ended_s = root.ended_s if root.ended_s is not None else now()
    end = end_of(root)
    return {"ended_s": round(root.ended_s, 3), "exit_code": end and end.exit_code, "signal": end and end.signal}
