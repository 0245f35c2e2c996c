"""The last report of a job that stood still says what the provisional one said, however the job was ended.

All programs stand still at once: a stall takes fifteen seconds to be told. More programs and more ways of ending them:
tests/benchmarks/last_word.py.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from jobs import DEADLINE_S, facts, report, start, until

CAUGHT = """
try:
    time.sleep(3600)
except KeyboardInterrupt:
    print("interrupted by the user")
    sys.exit(0)
"""
HANDLED = """
def save(number, frame):
    open("last.txt", "w").close()
    sys.exit(0)


signal.signal(signal.SIGTERM, save)
while not os.path.exists("labels"):
    time.sleep(1)
"""
JOINS = """
stop = threading.Event()
writer = threading.Thread(target=stop.wait)
writer.start()


@atexit.register
def finish():
    stop.set()


threading.Event().wait()
"""
READS = """
os.mkfifo("stats")
with open("stats") as file:
    print(file.read())
"""
IMPORTS = "import atexit, os, signal, sys, threading, time\n"
Ended = dict[str, tuple[int, list[dict[str, Any]]]]
SAID = ("outcome", "failure_class", "culprit_ranks", "location", "root_cause")


def to_doctor(number: int) -> Callable[[Path, subprocess.Popen[bytes]], None]:
    return lambda folder, doctor: doctor.send_signal(number)


def to_job(number: int) -> Callable[[Path, subprocess.Popen[bytes]], None]:
    return lambda folder, doctor: os.kill(facts(folder)["processes"][0]["pid"], number)


JOBS: dict[str, tuple[str, Callable[[Path, subprocess.Popen[bytes]], None], int]] = {
    "ctrl-c": (CAUGHT, to_doctor(signal.SIGINT), 130),
    "sigterm": (JOINS, to_doctor(signal.SIGTERM), 143),
    "kill": (HANDLED, to_job(signal.SIGTERM), 0),
    "kill -9": (READS, to_job(signal.SIGKILL), 137),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Returns the exit code and three reports of each job: the provisional one, the final one, that of `diagnose`."""
    folders = {name: tmp_path_factory.mktemp("job") for name in JOBS}
    doctors: dict[str, subprocess.Popen[bytes]] = {}
    for name, folder in folders.items():
        (folder / "train.py").write_text(IMPORTS + JOBS[name][0])
        doctors[name] = start(
            folder, sys.executable, "train.py", env={**os.environ, "RANK": "0", "WORLD_SIZE": "1"},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    try:
        return _end_all(folders, doctors)
    finally:
        for doctor in doctors.values():
            if doctor.poll() is None:
                doctor.terminate()
                doctor.wait()


def _end_all(folders: Mapping[str, Path], doctors: Mapping[str, subprocess.Popen[bytes]]) -> Ended:
    before = {name: until(lambda at=folder: told(at), DEADLINE_S) for name, folder in folders.items()}
    for name, folder in folders.items():
        JOBS[name][1](folder, doctors[name])
    found = {}
    for name, folder in folders.items():
        code = doctors[name].wait(DEADLINE_S)
        final = report(folder)
        command = [sys.executable, "-c", "from diagnostics.cli import main; main()", "diagnose", folder / "report"]
        subprocess.run(command, capture_output=True, check=False, timeout=DEADLINE_S)
        found[name] = code, [before[name], final, report(folder)]
    return found


def told(folder: Path) -> dict[str, Any] | None:
    """Returns the provisional report, None while there is none."""
    try:
        return report(folder)
    except (OSError, json.JSONDecodeError):
        return None


@pytest.mark.parametrize("way", JOBS)
def test_all_three_reports_say_the_same(ended: Ended, way: str) -> None:
    code, reports = ended[way]
    provisional, final, again = ([one[key] for key in SAID] for one in reports)
    assert provisional[0] == "hang"
    assert provisional[3] is not None
    assert (provisional, provisional) == (final, again)
    assert [one["provisional"] for one in reports] == [True, False, False]
    assert code == reports[1]["exit_code"] == JOBS[way][2]


@pytest.mark.parametrize("way", JOBS)
def test_the_final_report_says_what_it_is_about(ended: Ended, way: str) -> None:
    _, (_, final, again) = ended[way]
    assert [note for note in final["notes"] if "teardown" in note]
    assert final["notes"] == again["notes"]
    assert final["ranks"][0]["stack"] == ended[way][1][0]["ranks"][0]["stack"]


def test_a_job_that_goes_on_is_no_hang_when_it_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import time\nprint('begun', flush=True)\nwhile True:\n    time.sleep(0.01)\n")
    doctor = start(tmp_path, sys.executable, "train.py", env={**os.environ, "RANK": "0"}, stdout=subprocess.PIPE)
    assert doctor.stdout is not None
    with doctor.stdout as output:
        assert output.readline() == b"begun\n"
        doctor.send_signal(signal.SIGINT)
        assert doctor.wait(DEADLINE_S) == 130
    said = report(tmp_path)
    assert (said["outcome"], said["failure_class"], said["exit_code"]) == ("ok", "none", 130)
    assert said["cut_short"] == "interrupt"
    (note,) = said["notes"]
    assert re.fullmatch(r"SIGINT at [\d.]+ s ended the job while it went on; until then nothing was found wrong", note)
    assert said["ranks"][0]["ended"].startswith("interrupted (")
    assert (tmp_path / "report" / "report.md").read_text().startswith("# Run report\n\n**The job was interrupted.**")


# The doctor's own program, in which somebody ends the job after the look at it and before its state is kept.
ENDED_AT_THE_LOOK = """
import os, signal, sys, time
from diagnostics.supervisor import captures
from diagnostics.supervisor.captures import CaptureController

captures.PROVISIONAL_S = 0.5
look, looks_left = CaptureController._snapshot, [int(sys.argv.pop(1))]


def look_and_end(self, living, reason):
    look(self, living, reason)
    if not self.stalls():  # it is only expected to stand still
        return
    looks_left[0] -= 1
    if looks_left[0]:
        return
    for pid in living:
        os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + 2  # of two looks; where the loop has seen the end of the job there are no more
    while self.stalls()[-1].over_s is None and time.monotonic() < until:
        time.sleep(0.02)


CaptureController._snapshot = look_and_end
from diagnostics.cli import main

main()
"""


@pytest.mark.parametrize("at_look", ["1", "2"])
def test_a_job_that_is_ended_while_it_is_looked_at_stood_still(tmp_path: Path, at_look: str) -> None:
    (tmp_path / "train.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(3600)\n")
    doctor = subprocess.run(
        [sys.executable, "-c", ENDED_AT_THE_LOOK, at_look, "run", "--report-dir", "report", "--", sys.executable,
         "train.py"],
        cwd=tmp_path, env={**os.environ, "RANK": "0"}, capture_output=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    said = report(tmp_path)
    assert (doctor.returncode, said["outcome"], said["location"]) == (143, "hang", "train.py:3")
    assert [note for note in said["notes"] if "ended from outside while it stood still" in note]
