"""Real jobs that run without the doctor, and the real commands that look at them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from outside import DOCTOR, Look, Start

from diagnostics.machine.processes.descendants import all_stats, descendants


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a program of `source` and waits until it has written `words` lines into the file `ready`."""
    started: list[subprocess.Popen[bytes]] = []

    def go(source: str, *argv: str, lines: int = 1, deadline_s: float = 90.0) -> subprocess.Popen[bytes]:
        (tmp_path / "train.py").write_text(source)
        ready = tmp_path / "ready"
        environ = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
        with (tmp_path / "stderr").open("wb") as stderr:
            job = subprocess.Popen(
                argv or (sys.executable, "train.py"),
                cwd=tmp_path,
                env={**environ, "OMP_NUM_THREADS": "1"},
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )
        started.append(job)
        until = time.monotonic() + deadline_s
        while not ready.exists() or ready.read_text().count("\n") < lines:
            assert job.poll() is None, (tmp_path / "stderr").read_text()
            assert time.monotonic() < until, "it never was ready"
            time.sleep(0.05)
        return job

    yield go
    for job in started:
        if job.poll() is None:
            for pid in [job.pid, *descendants(job.pid, all_stats())]:  # torchrun's ranks have sessions of their own
                os.kill(pid, signal.SIGKILL)
        job.wait()


@pytest.fixture
def look(tmp_path: Path) -> Look:
    """Runs one of the doctor's commands, by default as any user would."""

    def go(command: str, pid: int, *options: str, before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, *DOCTOR, command, str(pid), *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env={**os.environ, "COLUMNS": "100"},
        )

    return go
