"""Runs Python programs by forks of one that has imported torch: for tests of what a program does, not of its start.

`subprocess.run([sys.executable, ...])` pays for an import of torch in each process, three of them in a training on
two ranks; `python(...)` does the same without. See warm_host.py. `main_program(...)` is nearer to a start: the fork
goes on with what an interpreter does before its program, a `sitecustomize` of PYTHONPATH first, and is one to its end.
See warm_start/sitecustomize.py.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

HOST = Path(__file__).with_name("warm_host.py")
START = Path(__file__).with_name("warm_start")
MAIN = ("-m", "main")
DOCTOR = ("-c", "from diagnostics.cli import main; main()")


@cache
def host() -> socket.socket:
    """Starts the host with the first program; it ends with this process."""
    return _started(lambda control: ([sys.executable, str(HOST), str(control)], {}))


@cache
def waiting_start() -> socket.socket:
    """The same for starts of main.py in any folder."""
    return _waiting(MAIN, "training")


@cache
def waiting_module(name: str) -> socket.socket:
    """The same for starts of NAME.py, by `python -m NAME`."""
    return _waiting(("-m", name), "training")


@cache
def waiting_doctor() -> socket.socket:
    """The same for `ups-doctor` with any arguments."""
    return _waiting(DOCTOR, "doctor")


def _waiting(argv: Sequence[str], warm: str) -> socket.socket:
    environ = {"PYTHONPATH": str(START), "UPS_TEST_WARM": warm}
    return _started(lambda control: ([sys.executable, *argv], {**environ, "UPS_TEST_CONTROL": str(control)}))


def _started(asked: Callable[[int], tuple[list[str], dict[str, str]]]) -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    argv, environ = asked(theirs.fileno())
    process = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environ},
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


@dataclass
class Program:
    """A program that was started: `python ARGV...`."""

    argv: Sequence[str]
    connection: socket.socket
    stdout: IO[str]
    stderr: IO[str]

    def end(self, deadline_s: float = 600) -> subprocess.CompletedProcess[str]:
        """Waits for it and returns what it said. Raises TimeoutError."""
        with self.connection, self.stdout, self.stderr:
            self.connection.settimeout(deadline_s)
            pid = int(self.connection.recv(64))  # which a host that has to start sends after seconds
            try:
                code = int(self.connection.recv(64))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise
            self.stdout.seek(0)
            self.stderr.seek(0)
            return subprocess.CompletedProcess([*self.argv], code, self.stdout.read(), self.stderr.read())


class Running:
    """A program that was started and is followed by its pid, as one of subprocess.Popen is."""

    def __init__(self, program: Program) -> None:
        self.args, self.returncode, self._connection = program.argv, None, program.connection
        for stream in (program.stdout, program.stderr):
            stream.close()
        self.pid = int(self._connection.recv(64))

    def wait(self, timeout: float | None = None) -> int:
        """Returns its exit code, -N for signal N. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = int(self._connection.recv(64))
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0) from None
            self._connection.close()
        return self.returncode

    def poll(self) -> int | None:
        """Returns its exit code, None while it runs."""
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """Sends SIGKILL."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def start(*argv: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Program:
    """Starts `python ARGV...` (with -c, -m or a file)."""
    return _start(host(), argv, env, cwd)


def start_session(*argv: str | Path, env: Mapping[str, str], cwd: Path | None, output: Path) -> Running:
    """Starts `python ARGV...` in a session of its own, its stdout and stderr in a file."""
    return Running(_start(host(), argv, env, cwd, output))


def _start(
    asked_one: socket.socket,
    argv: Sequence[str | Path],
    env: Mapping[str, str] | None,
    cwd: Path | None,
    output: Path | None = None,
) -> Program:
    """With `output`, it has a session of its own."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # Closed by Program.end or by Running.
    stdout = tempfile.TemporaryFile("w+") if output is None else output.open("w")  # noqa: SIM115
    stderr = tempfile.TemporaryFile("w+") if output is None else os.fdopen(os.dup(stdout.fileno()), "w")  # noqa: SIM115
    program = Program([*map(str, argv)], ours, stdout, stderr)
    asked = {
        "argv": program.argv,
        "env": dict(os.environ if env is None else env),
        "cwd": str(cwd or Path.cwd()),
        "session": output is not None,
    }
    with theirs:
        descriptors = [theirs.fileno(), program.stdout.fileno(), program.stderr.fileno()]
        socket.send_fds(asked_one, [json.dumps(asked).encode()], descriptors)
    return program


def python(
    *argv: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs `python ARGV...` to its end and returns what it said."""
    return start(*argv, env=env, cwd=cwd).end()


def main_program(env: Mapping[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs `python -m main` in `cwd` to its end and returns what it said."""
    return _start(waiting_start(), MAIN, env, cwd).end()


def module_program(
    name: str, *arguments: str, env: Mapping[str, str], cwd: Path, deadline_s: float
) -> subprocess.CompletedProcess[str]:
    """Runs `python -m NAME ARGUMENTS` in `cwd` to its end and returns what it said. Raises TimeoutError."""
    return _start(waiting_module(name), ("-m", name, *arguments), env, cwd).end(deadline_s)


def doctor(
    *arguments: str | Path, env: Mapping[str, str], cwd: Path, deadline_s: float
) -> subprocess.CompletedProcess[bytes]:
    """Runs `ups-doctor ARGUMENTS` until its streams are closed. Raises subprocess.TimeoutExpired."""
    argv = [*DOCTOR, *map(str, arguments)]
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    (out, out_written), (err, err_written) = os.pipe(), os.pipe()
    asked = {"argv": argv, "env": dict(env), "cwd": str(cwd), "session": False}
    socket.send_fds(waiting_doctor(), [json.dumps(asked).encode()], [theirs.fileno(), out_written, err_written])
    theirs.close()
    for descriptor in (out_written, err_written):
        os.close(descriptor)
    with ours, os.fdopen(out, "rb") as stdout, os.fdopen(err, "rb") as stderr, ThreadPoolExecutor(2) as readers:
        ours.settimeout(deadline_s)
        pid = int(ours.recv(64))
        said = [readers.submit(stream.read) for stream in (stdout, stderr)]
        until = time.monotonic() + deadline_s
        try:
            texts = [one.result(max(0.0, until - time.monotonic())) for one in said]
            code = int(ours.recv(64))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(argv, deadline_s) from None
    return subprocess.CompletedProcess(argv, code, *texts)
