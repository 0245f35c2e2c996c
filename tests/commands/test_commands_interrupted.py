"""Ctrl-C and SIGTERM end any command; a few moments of what tests/benchmarks/interrupt_drill.py does at random ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
from interrupt_drill import DIES, LIMIT_S, NEVER, PROJECT, STUBBORN, Busy, Command, drill, undisturbed  # noqa: E402

# The doctor, with a diagnosis in which something never comes back.
STUCK = """\
import sys, time
from diagnostics.diagnosis import engine as diagnose
def stuck(*given, **more):
    open("stuck", "w").close()
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass
diagnose.{what} = stuck
from diagnostics.cli import main
sys.argv = ["ups-doctor", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize(
    ("words", "signals", "after_s"),
    [
        (("run", "--report-dir", "new", "--", sys.executable, "-c", DIES), 1, 1.0),
        (("run", "--report-dir", "new", "--", sys.executable, "-c", STUBBORN), 2, 1.5),
        (("diagnose", "--log", "long.log", "--report-dir", "new"), 1, 0.6),
        (("audit", str(PROJECT / "diagnostics")), 1, 0.8),
        (("scan-cache", "--deep", sys.prefix), 1, 0.6),
    ],
)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_in_time_and_leaves_nothing(
    tmp_path: Path, words: tuple[str, ...], signals: int, after_s: float, number: signal.Signals
) -> None:
    (tmp_path / "long.log").write_text("a b" * 200_000 + "\nTraceback (most recent call last):\nKeyError: 1\n" * 2000)
    command = Command(name=words[0], words=words, longest_s=after_s, signals=signals)
    # A log is read in about this time, so that the answer may stand already; the others take many times as long.
    whole = undisturbed(command, tmp_path) if command.name == "diagnose" else NEVER
    assert drill(command, tmp_path, number, after_s, whole).problems == []


@pytest.mark.parametrize("what", ["job_from_record", "arbitrate"])
def test_a_stuck_diagnosis_is_ended_by_one_ctrl_c_after_the_job_and_a_short_report_stands(
    tmp_path: Path, what: str
) -> None:
    code, took_s, busy = interrupted(tmp_path, what, signal.SIGINT)
    assert took_s < LIMIT_S * busy
    assert code == 7
    assert (tmp_path / "screen").read_text() == (
        "ups-doctor: The job crashed; why is unknown, here is what was seen.\n"
        "  why    not examined: the diagnosis came to no end in time (possible, not proven)\n"
        "  fix    have the record diagnosed again: ups-doctor diagnose report\n"
        "  report: report/report.md\n"
    )
    page = (tmp_path / "report" / "report.md").read_text()
    assert page.startswith("# Run report\n\n**The job crashed; why is unknown, here is what was seen.**")
    assert json.loads((tmp_path / "report" / "report.json").read_text())["job_exit_code"] == 7


def test_ctrl_c_twice_is_told_as_an_interrupt_also_where_nothing_was_diagnosed(tmp_path: Path) -> None:
    job = "import time; print('begun', flush=True); time.sleep(600)"
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK.format(what="arbitrate"), "run", "--report-dir", "report", "--",
         sys.executable, "-c", job],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    process.send_signal(signal.SIGINT)
    until = time.monotonic() + 60
    while not (tmp_path / "stuck").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.decode().partition("ups-doctor: The")[1:] == (
        "ups-doctor: The",
        " job was interrupted.\n"
        "  note   whether anything was wrong before was not examined: ups-doctor diagnose report\n"
        "  report: report/report.md\n",
    )
    assert json.loads((tmp_path / "report" / "report.json").read_text())["outcome"] == "ok"


def interrupted(folder: Path, what: str, number: signal.Signals) -> tuple[int, float, float]:
    """Runs a failing job under a stuck doctor; returns exit code, how long its end took, how busy the machine was."""
    with (folder / "screen").open("wb") as screen:
        process = subprocess.Popen(
            [sys.executable, "-c", STUCK.format(what=what), "run", "--report-dir", "report", "--",
             sys.executable, "-c", "raise SystemExit(7)"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=screen, env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )  # fmt: skip
    until = time.monotonic() + 60
    while not (folder / "stuck").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    began, busy = time.monotonic(), Busy()
    process.send_signal(number)
    code, took_s = process.wait(60), time.monotonic() - began
    return code, took_s, busy.stop()
