"""A process that has raised is seen from outside, at once and once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from diagnostics.record.record import agent_environment
from diagnostics.supervisor.capture.exception_flag import ExceptionFlag


def watched(folder: Path, code: str) -> dict[int, int]:
    """Runs a program under the agent; returns its pid and start ticks."""
    environ = {**os.environ, **agent_environment(folder)}
    subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, timeout=60, check=False)
    return {int(path.stem.split("-")[1]): int(path.stem.split("-")[2]) for path in folder.glob("agent-*.bin")}


def test_a_process_that_raised_is_told_once(tmp_path: Path) -> None:
    processes = watched(tmp_path, "raise ValueError('no')")
    watch = ExceptionFlag(tmp_path)
    assert (watch.look(processes), watch.look(processes)) == (tuple(processes), ())


@pytest.mark.parametrize("code", ["pass", "try:\n    raise ValueError('no')\nexcept ValueError:\n    pass", "exit(3)"])
def test_one_that_went_on_or_left_on_purpose_did_not_raise(code: str, tmp_path: Path) -> None:
    processes = watched(tmp_path, code)
    assert len(processes) == 1
    assert ExceptionFlag(tmp_path).look(processes) == ()


def test_files_that_are_not_there_or_cut_short_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "agent-7-1.bin").write_bytes(b"UPS" * 3000)
    assert ExceptionFlag(tmp_path).look({7: 1, 8: 1}) == ()
