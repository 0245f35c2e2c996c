"""Ctrl-C while a try runs: what was tried is kept, and no process of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from diagnostics.bisection.tries.tries_file import TriesFile

PROGRAM = Path(__file__).parent / "interrupted.py"
FAILING = Path(__file__).parents[1] / "models" / "failing.py"
PROJECT = Path(__file__).parents[3]
RANKS = 2


@pytest.mark.parametrize(
    "variables", [[], pytest.param(["UPS_TEST_SWITCH=1"], marks=pytest.mark.slow)], ids=["forked", "programs"]
)
def test_an_interrupted_try_leaves_no_process_and_loses_no_result(tmp_path: Path, variables: list[str]) -> None:
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    words = [sys.executable, str(PROGRAM), str(tmp_path), str(FAILING), *variables]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=env, start_new_session=True) as process:
        assert process.stdout is not None
        while not (line := process.stdout.readline()).startswith("trying waits"):
            assert line, "it ended before the second try"
        ranks = waiting_ranks(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    assert psutil.wait_procs(ranks, timeout=10)[1] == []
    assert [trial.passed for trial in TriesFile(tmp_path / "tries.jsonl", {}).known.values()] == [True]


def waiting_ranks(pid: int) -> list[psutil.Process]:
    """Returns all processes below `pid` once its ranks have begun: those that have their rank's own agent's file."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        family = psutil.Process(pid).children(recursive=True)
        if sum(begun(one) for one in family) >= RANKS:
            return family
        time.sleep(0.1)
    raise AssertionError("no rank began")


def begun(process: psutil.Process) -> bool:
    """Whether the agent of a rank runs in it, whose stacks file is open."""
    try:
        files = [str(link.readlink()) for link in Path(f"/proc/{process.pid}/fd").iterdir()]
    except OSError:
        return False
    return any("/agents/stacks-" in file for file in files)
