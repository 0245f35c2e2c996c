"""Short-lived programs that look at the job (py-spy, gdb): with a deadline, and never taken for a part of it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.machine.processes.job_processes import OWN

MAX_OUTPUT_BYTES = 16 << 20
# What would make a tool behave as a part of the job: the agent, and the job's Python settings.
_FOREIGN = ("PYTHON", "UPS_DOCTOR", "LD_PRELOAD", "RUST_BACKTRACE")
_running: set[int] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool printed. `problem` says why it gave no answer, "" where it gave one."""

    stdout: str = ""
    stderr: str = ""
    problem: str = ""


def running_tools() -> frozenset[int]:
    """Returns the pids of tools at work: children of this process that do not belong to the job."""
    return frozenset(_running)


def ask(argv: Sequence[str], *, deadline_s: float) -> ToolAnswer:
    """Runs `argv` without stdin and returns what it said; past the deadline it is killed. Never raises OSError.

    Its exit code is not looked at: a supervisor that reaps every child may have taken it.
    """
    environ = {name: value for name, value in os.environ.items() if name == OWN or not name.startswith(_FOREIGN)}
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            start_new_session=True,  # Ctrl-C in the terminal is not meant for it
        )
    except OSError as error:
        return ToolAnswer(problem=f"{argv[0]} does not start: {error.strerror or error}")
    _running.add(process.pid)
    try:
        out, err = process.communicate(timeout=deadline_s)
    except subprocess.TimeoutExpired:
        _kill(process.pid)
        _drain(process)
        return ToolAnswer(problem=f"no answer within {deadline_s:.1f} s")
    finally:
        _running.discard(process.pid)
    return ToolAnswer(stdout=_text(out), stderr=_text(err))


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # it ended just now
        return


def _drain(process: subprocess.Popen[bytes]) -> None:
    """Closes what is left of a killed tool; one that hangs inside the kernel is not waited for."""
    try:
        process.communicate(timeout=0.5)
    except subprocess.TimeoutExpired:
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _text(data: bytes) -> str:
    return data[:MAX_OUTPUT_BYTES].decode("utf-8", "replace")
