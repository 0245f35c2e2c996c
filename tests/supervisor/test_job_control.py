"""On a terminal with a real shell: Ctrl-Z, bg, fg, Ctrl-C, and a job in the background that reads."""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import DOCTOR

DEADLINE_S = 60.0
TICKS = """
import os, time
at = 0
while not os.path.exists("stop"):
    at += 1
    print("tick", at, flush=True)
    time.sleep(0.05)
print("went", "on", flush=True)
"""


class Shell:
    """bash on a terminal of its own."""

    def __init__(self, folder: Path) -> None:
        self._said = ""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            environ = {**os.environ, "PS1": "$ ", "TERM": "dumb"}
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environ)  # noqa: S606 - the shell itself
        self.wait_for(r"\$ ")

    def run(self, line: str) -> None:
        """Types a line."""
        self.type(line + "\n")

    def type(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._fd, keys.encode())

    def wait_for(self, pattern: str) -> None:
        """Waits until the terminal has shown this, after what was waited for before."""
        until = time.monotonic() + DEADLINE_S
        while not (found := re.search(pattern, self._said)):
            assert time.monotonic() < until, f"{pattern!r} never came: {self._said!r}"
            if select.select([self._fd], [], [], 0.2)[0]:
                self._said += os.read(self._fd, 65536).decode("utf-8", "replace")
        self._said = self._said[found.end() :]

    def end(self) -> None:
        """Closes the terminal: bash and its jobs hear a hang-up."""
        os.kill(self.pid, signal.SIGKILL)
        os.close(self._fd)
        os.waitpid(self.pid, 0)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    found = Shell(tmp_path)
    yield found
    found.end()


def watched(*job: str, name: str = "report") -> str:
    return shlex.join([*DOCTOR, "--report-dir", name, "--quiet", "--", *job])


def test_ctrl_z_bg_fg_and_ctrl_c_do_what_a_shell_does(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "job.py").write_text(TICKS)
    shell.run(watched(sys.executable, "job.py"))
    shell.wait_for("tick 2")
    shell.type("\x1a")
    shell.wait_for(r"\[1\]\+  Stopped")
    shell.run("bg")
    shell.wait_for("tick")
    shell.run("echo the shell $((40 + 2))")  # it has the terminal
    shell.wait_for("the shell 42")
    shell.run("fg")
    shell.wait_for("tick")
    shell.type("\x1a")
    shell.wait_for(r"\[1\]\+  Stopped")
    shell.run("fg")
    shell.wait_for("tick")
    (tmp_path / "stop").touch()
    shell.wait_for("went on")
    shell.run("echo code $?")
    shell.wait_for("code 0")
    (tmp_path / "stop").unlink()
    shell.run(watched(sys.executable, "job.py", name="second"))
    shell.wait_for("tick 2")
    shell.type("\x03")
    shell.wait_for("KeyboardInterrupt")
    shell.run("echo code $?")
    shell.wait_for("code 130")


def test_a_job_in_the_background_writes_and_is_stopped_only_where_it_reads(shell: Shell) -> None:
    code = "print('out', 6 * 7); print('got', input())"
    shell.run(watched(sys.executable, "-c", code) + " &")
    shell.wait_for("out 42")
    shell.run("while ! jobs | grep Stopped; do sleep 0.1; done")
    shell.wait_for(r"\[1\]\+  Stopped")
    shell.run("fg")
    shell.wait_for("input")  # the line that fg shows: it goes on
    shell.type("some words\n")
    shell.wait_for("got some words")
