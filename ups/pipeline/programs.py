"""The commands that steps run, as processes of their own: what they say is seen, their exit code is the step's."""

from __future__ import annotations

import ctypes
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import FrameType

from ups.errors import UpsError

PR_SET_PDEATHSIG = 1  # linux/prctl.h
UPS = ("-c", "from ups.cli import main; main(is_step=True)")
DOCTOR = ("-c", "from diagnostics.cli import main; main(is_step=True)")


class StepFailedError(UpsError):
    """A program of a step ended with a code other than 0, or what it made is not good enough."""


def run(program: Sequence[str], arguments: Sequence[object], *, quiet: bool = False) -> str:
    """Runs a command to its end; returns what it printed where `quiet`. Raises StepFailedError with its exit code.

    A SIGTERM to the pipeline is handed on, and the kernel sends one where the pipeline is killed.
    """
    argv = [sys.executable, *program, *map(str, arguments)]
    process = subprocess.Popen(
        argv,
        stdout=subprocess.PIPE if quiet else None,
        text=True,
        preexec_fn=_end_with_parent,
    )

    def hand_on(number: int, _: FrameType | None) -> None:
        process.send_signal(number)

    before = signal.signal(signal.SIGTERM, hand_on)
    try:
        said, _ = process.communicate()
    except KeyboardInterrupt:  # the terminal has told the process, too
        process.wait()
        raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if process.returncode:
        code = process.returncode if process.returncode > 0 else 128 - process.returncode
        raise StepFailedError(f"{shown(program, arguments)} ended with exit code {code}", exit_code=code)
    return said or ""


def shown(program: Sequence[str], arguments: Sequence[object]) -> str:
    """Returns the command as somebody would type it."""
    ours = {UPS[1]: "ups", DOCTOR[1]: "ups-doctor"}
    name = ours.get(program[1], shlex.join(["python", *program]))
    return f"{name} {shlex.join(map(str, arguments))}"


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
