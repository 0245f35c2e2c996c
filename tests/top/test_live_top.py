"""`ups-doctor top -- CMD` on a terminal of 80 columns, while one rank keeps the other waiting."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyte
import pytest

from diagnostics.record.record import RunRecord
from diagnostics.top.live_file import LATEST_CALLS, LiveFile

DOCTOR = (sys.executable, "-c", "from diagnostics.cli import main; main()")
DEADLINE_S = 90.0
# Makes it the one that its session takes Ctrl-C from.
OWN_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
JOB = """
import os, sys, time
import torch, torch.distributed as dist
from torch import nn
rank = 0 if os.fork() else 1
dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
model = nn.Sequential(nn.Linear(4, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(40):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    dist.all_reduce(torch.ones(2))
while rank and not os.path.exists("go on"):
    time.sleep(0.05)
dist.barrier()
dist.destroy_process_group()
if not rank:
    os.wait()
"""


class Terminal:
    """A terminal of 80 columns in which a command runs."""

    def __init__(self, argv: list[str], cwd: Path) -> None:
        self.screen = pyte.Screen(80, 24)
        self._stream = pyte.ByteStream(self.screen)
        self._fd, theirs = pty.openpty()
        env = {**os.environ, "COLUMNS": "80", "LINES": "24", "TERM": "xterm-256color", "NO_COLOR": "1"}
        env["OMP_NUM_THREADS"] = "1"
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN_TERMINAL, *argv], cwd=cwd, env=env, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self._until = time.monotonic() + DEADLINE_S

    def type(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def wait_for(self, seen: Callable[[list[str]], bool]) -> list[str]:
        """Returns the lines as soon as they are as wanted. Raises AssertionError with what is there instead."""
        while time.monotonic() < self._until:
            if seen(self.lines):
                return self.lines
            if select.select([self._fd], [], [], 0.2)[0]:
                try:
                    self._stream.feed(os.read(self._fd, 1 << 16))
                except OSError:  # the command has ended
                    break
        assert seen(self.lines), "\n".join(self.lines)
        return self.lines

    @property
    def lines(self) -> list[str]:
        """What stands on it."""
        return [line.rstrip() for line in self.screen.display]

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(30)
        os.close(self._fd)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "job.py").write_text(JOB)
    found = Terminal([*DOCTOR, "top", "--every", "0.2", "--", sys.executable, "job.py"], tmp_path)
    yield found
    found.close()


def test_who_keeps_the_other_waiting_is_seen_and_the_report_is_told_at_the_end(
    terminal: Terminal, tmp_path: Path
) -> None:
    lines = terminal.wait_for(lambda lines: "rank 1 has not come to barrier" in lines[1])
    assert lines[0].startswith("ups-doctor top: ")
    assert re.fullmatch(r"2 ranks, \d+ s: rank 1 has not come to barrier #40; 1 wait since \d+\.\d s", lines[1])
    assert lines[3] == " rank     step  step/s  data   cpu     mem  where"
    assert re.fullmatch(r"    1       40 +[\d.]+ +0% +\d+% +\d+M  1 wait for it; .*", lines[4])
    assert re.fullmatch(r"    0       40 +[\d.]+ +0% +\d+% +\d+M  waits \d+\.\d s for 1 in barrier #40", lines[5])
    assert "\x1b" not in "".join(lines)
    (tmp_path / "go on").touch()
    terminal.wait_for(lambda lines: any("report: reports/" in line for line in lines))
    assert terminal.process.wait(30) == 0
    (record,) = tmp_path.glob("reports/*-run/record")
    whole = RunRecord.load(record)
    for agent in (one for one in whole.agents if one.steps.count):
        live = LiveFile(record / "agents" / agent.name).look()
        assert live.steps == agent.steps
        assert live.earlier == agent.collectives[-LATEST_CALLS:]
        assert live.recent == agent.timings.steps[-len(live.recent) :]
        assert live.module == agent.entered[-1].module.shown
    again = subprocess.run([*DOCTOR, "top", str(record)], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.findall(r"^ +(\d) +(\d+) ", again.stdout, re.MULTILINE) == [("0", "40"), ("1", "40")]


def test_ctrl_c_ends_the_job_and_the_headline_says_that_it_was_interrupted(tmp_path: Path) -> None:
    job = "import time; open('begun', 'w').close(); time.sleep(600)"
    found = Terminal([*DOCTOR, "top", "--every", "0.2", "--", sys.executable, "-c", job], tmp_path)
    try:
        found.wait_for(lambda lines: (tmp_path / "begun").exists() and lines[0].startswith("ups-doctor top: "))
        found.type(b"\x03")
        lines = found.wait_for(lambda lines: any("report: reports/" in line for line in lines))
        said = "ups-doctor: The job was interrupted."  # behind the terminal's own ^C
        assert any(line.endswith(said) for line in lines), "\n".join(lines)
        assert found.process.wait(30) == 130
    finally:
        found.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_to_the_screen_alone_ends_the_job_too(tmp_path: Path, number: signal.Signals, code: int) -> None:
    job = "import os, time; open('begun', 'w').write(str(os.getpid())); time.sleep(600)"
    screen = subprocess.Popen(
        [*DOCTOR, "top", "--", sys.executable, "-c", job], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    begun, until = tmp_path / "begun", time.monotonic() + DEADLINE_S
    while not (begun.exists() and begun.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    screen.send_signal(number)
    said, _ = screen.communicate(timeout=30)
    assert (screen.returncode, "ups-doctor: The job was interrupted." in said) == (code, True)
    assert not Path(f"/proc/{begun.read_text()}").exists()


def test_ctrl_c_before_the_job_has_begun_is_told_and_no_report_that_is_not_there(tmp_path: Path) -> None:
    blind = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = blind + (
        "import subprocess\n"
        "from diagnostics import cli\n"
        "started = subprocess.Popen\n"
        "dead = [sys.executable, '-c', 'import os, signal, time; time.sleep(60)']\n"
        "subprocess.Popen = lambda argv, **more: started(dead if 'run' in argv else argv, **more)\n"
        "cli.main()\n"
    )
    screen = subprocess.Popen(
        [sys.executable, "-c", code, "top", "--", "true"], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + DEADLINE_S
    while not list(tmp_path.glob("reports/*")) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1.0)
    screen.send_signal(signal.SIGINT)
    said, errors = screen.communicate(timeout=30)
    assert (screen.returncode, said, errors.strip()) == (130, "", "interrupted by Ctrl-C")


def test_what_is_no_job_of_the_doctor_is_told_with_what_helps(tmp_path: Path) -> None:
    found = subprocess.run([*DOCTOR, "top", str(os.getpid())], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 2
    assert "does not run under the doctor" in found.stderr
    found = subprocess.run([*DOCTOR, "top"], cwd=tmp_path, capture_output=True, text=True)
    assert (found.returncode, "no run below" in found.stderr) == (2, True)
