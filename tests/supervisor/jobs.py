"""Starts the real `ups-doctor run` on small jobs, and reads what it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import warm_python

DOCTOR = (sys.executable, "-c", "from diagnostics.cli import main; main()", "run")
DEADLINE_S = 300  # a machine with much else to do


def run(
    tmp_path: Path, *job: str, options: Sequence[str] = (), env: Mapping[str, str] | None = None, **rest: Any
) -> subprocess.CompletedProcess[bytes]:
    """Runs a job watched, with its report in tmp_path/report; the doctor's start is a fork where nothing differs."""
    if not env and not rest:
        return warm_python.doctor(
            "run", "--report-dir", tmp_path / "report", *options, "--", *job,
            env=os.environ, cwd=tmp_path, deadline_s=DEADLINE_S,
        )  # fmt: skip
    return subprocess.run(
        [*DOCTOR, "--report-dir", str(tmp_path / "report"), *options, "--", *job],
        cwd=tmp_path,
        capture_output=True,
        timeout=DEADLINE_S,
        env={**os.environ, **(env or {})},
        check=False,
        **rest,
    )


def start(tmp_path: Path, *job: str, options: Sequence[str] = (), **rest: Any) -> subprocess.Popen[bytes]:
    """Starts a job watched."""
    return subprocess.Popen(
        [*DOCTOR, "--report-dir", str(tmp_path / "report"), *options, "--", *job], cwd=tmp_path, **rest
    )


def python(code: str) -> tuple[str, ...]:
    """The command line of a Python program."""
    return (sys.executable, "-c", code)


def facts(tmp_path: Path) -> dict[str, Any]:
    """job.json."""
    found: dict[str, Any] = json.loads((tmp_path / "report" / "record" / "job.json").read_text())
    return found


def report(tmp_path: Path) -> dict[str, Any]:
    """report.json."""
    found: dict[str, Any] = json.loads((tmp_path / "report" / "report.json").read_text())
    return found


def output(tmp_path: Path, pattern: str = "all.txt") -> str:
    """The one copy of this name."""
    (path,) = (tmp_path / "report" / "record" / "output").glob(pattern)
    return path.read_text()


def until(true: Callable[[], Any], deadline_s: float = 30.0) -> Any:
    """Waits until a condition of another process holds, and returns it."""
    end = time.monotonic() + deadline_s
    while not (answer := true()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)
    return answer


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
