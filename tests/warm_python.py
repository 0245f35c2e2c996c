"""Runs Python programs by forks of one that has imported torch: for tests of what a program does, not of its start.

`subprocess.run([sys.executable, ...])` pays for an import of torch in each process, three of them in a training on
two ranks; `python(...)` does the same without. See warm_host.py.
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

HOST = Path(__file__).with_name("warm_host.py")


@cache
def host() -> socket.socket:
    """Starts the host with the first program; it ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-P", str(HOST), str(theirs.fileno())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
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

    def end(self, deadline_s: float = 120) -> subprocess.CompletedProcess[str]:
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


def start(*argv: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Program:
    """Starts `python ARGV...` (with -c, -m or a file)."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    stdout, stderr = (tempfile.TemporaryFile("w+") for _ in range(2))  # noqa: SIM115 - Program.end closes them
    program = Program([*map(str, argv)], ours, stdout, stderr)
    asked = {"argv": program.argv, "env": dict(os.environ if env is None else env), "cwd": str(cwd or Path.cwd())}
    with theirs:
        descriptors = [theirs.fileno(), program.stdout.fileno(), program.stderr.fileno()]
        socket.send_fds(host(), [json.dumps(asked).encode()], descriptors)
    return program


def python(
    *argv: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs `python ARGV...` to its end and returns what it said."""
    return start(*argv, env=env, cwd=cwd).end()
