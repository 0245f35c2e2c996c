"""Runs a program with a deadline and leaves nothing of it behind.

The child leads a session of its own, so Ctrl-C in the terminal does not reach it: it is ended here.
"""

from __future__ import annotations

import itertools
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from diagnostics.machine.execution.bounded_output import HeadAndTail, last_lines
from diagnostics.machine.facts import ChildResult, ChildTimeout, MachineError
from diagnostics.machine.processes.descendants import MARK, end_family

_CHUNK_BYTES = 1 << 16
_POLL_S = 0.02  # for kernels without pidfd_open (before 5.3)
_numbers = itertools.count(1)


class GroupChild:
    """The Child provider: one process group a run."""

    def run(
        self,
        argv: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str | None] | None = None,
        cwd: Path | None = None,
    ) -> ChildResult:
        """Runs `argv` without stdin; see contract.Child."""
        mark = new_mark()
        started = time.monotonic()
        process = _start(argv, environment(env or {}, mark), cwd)
        output: dict[str, HeadAndTail] = {"stdout": HeadAndTail(), "stderr": HeadAndTail()}
        try:
            in_time = _read_until_end(process, output, started + deadline_s)
        finally:  # also on KeyboardInterrupt, and after a good end: a daemon may have stayed
            stubborn = end_family(process.pid, mark)
            _close(process, stubborn)
        if not in_time:
            raise ChildTimeout(_late(argv, deadline_s, output, stubborn))
        code = process.returncode
        return ChildResult(
            argv=tuple(argv),
            returncode=code,
            signal=-code if code < 0 else None,
            stdout=output["stdout"].text(),
            stderr=output["stderr"].text(),
            seconds=time.monotonic() - started,
        )


def new_mark() -> str:
    """Returns a mark that no other child has; a doctor inside a doctor's child extends the outer mark."""
    return f"{os.environ.get(MARK, '')}{os.getpid()}.{next(_numbers)}/"


def environment(changes: Mapping[str, str | None], mark: str) -> dict[str, str]:
    """Returns this process's environment with `changes` and the mark; None removes a variable."""
    merged = {**os.environ, **changes, MARK: mark}
    return {name: value for name, value in merged.items() if value is not None}


def _start(argv: Sequence[str], env: dict[str, str], cwd: Path | None) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    except OSError as error:
        raise MachineError(f"cannot start {argv[0]}: {error.strerror or error}") from error


def _read_until_end(process: subprocess.Popen[bytes], output: dict[str, HeadAndTail], deadline: float) -> bool:
    """Reads both streams until the child itself has ended; False where the deadline came first.

    The end of the streams is not waited for: a grandchild may hold them open for ever.
    """
    with selectors.DefaultSelector() as selector:
        for name in output:
            stream: IO[bytes] = getattr(process, name)
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, name)
        ended = _end_of(process)
        if ended is not None:
            selector.register(ended, selectors.EVENT_READ, None)
        try:
            while not _has_ended(process.pid):
                left = deadline - time.monotonic()
                if left <= 0:
                    _drain(process, output)
                    return False
                _read_ready(selector, output, left if ended is not None else min(left, _POLL_S))
            _drain(process, output)
            return True
        finally:
            if ended is not None:
                os.close(ended)


def _has_ended(pid: int) -> bool:
    # WNOWAIT leaves the zombie: its pid cannot be given to a stranger before the family is ended.
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_of(process: subprocess.Popen[bytes]) -> int | None:
    """Returns a descriptor that becomes readable when the child ends; None on kernels before 5.3."""
    try:
        return os.pidfd_open(process.pid)
    except (OSError, AttributeError):
        return None


def _read_ready(selector: selectors.BaseSelector, output: dict[str, HeadAndTail], timeout_s: float) -> None:
    for key, _ in selector.select(timeout_s):
        if key.data is None:
            continue
        data = _read(key.fd)
        if data:
            output[key.data].add(data)
        elif data == b"":
            selector.unregister(key.fileobj)


def _drain(process: subprocess.Popen[bytes], output: dict[str, HeadAndTail]) -> None:
    """Takes what lies in the pipes, at most what a pipe can hold: a grandchild may go on writing."""
    for name, kept in output.items():
        stream: IO[bytes] = getattr(process, name)
        for _ in range(32):
            data = _read(stream.fileno())
            if not data:
                break
            kept.add(data)


def _read(descriptor: int) -> bytes | None:
    try:
        return os.read(descriptor, _CHUNK_BYTES)
    except BlockingIOError:
        return None


def _close(process: subprocess.Popen[bytes], stubborn: set[int]) -> None:
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    if process.pid not in stubborn:
        process.wait()


def _late(argv: Sequence[str], deadline_s: float, output: dict[str, HeadAndTail], stubborn: set[int]) -> str:
    said = last_lines(output["stderr"].text()) or last_lines(output["stdout"].text())
    command = " ".join(argv)
    message = f"{command} gave no answer within {deadline_s:g} s; it was ended"
    if stubborn:
        pids = ", ".join(map(str, sorted(stubborn)))
        message = f"{message}, but pid {pids} cannot be killed: it waits inside the kernel"
    return f"{message}; it last said: {said}" if said else f"{message}; it had said nothing"
