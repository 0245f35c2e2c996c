"""What is made beside the loop while a job runs, and comes late: a report that was withdrawn, sources that wait."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from diagnostics.record.record import BEFORE
from diagnostics.record.supervisor_facts import Stall
from diagnostics.supervisor.capture.pre_signal_state import EXPECTED
from diagnostics.supervisor.capture.run_folder import RunFolder, open_run_folder
from diagnostics.supervisor.captures import CaptureController
from diagnostics.supervisor.facts_file import JobFactsFile
from diagnostics.supervisor.provisional_report import ProvisionalReport

WITHDRAWN = "ups-doctor: the job goes on; the provisional report is withdrawn"


@pytest.fixture
def place(tmp_path: Path) -> RunFolder:
    place = open_run_folder(tmp_path / "report")
    (place.record / "job.json").write_text('{"command": ["train"], "cwd": "/job", "started_ns": 7}')
    return place


def pages(place: RunFolder) -> list[str]:
    return sorted(path.name for path in place.folder.iterdir() if path.is_file())


def test_a_report_is_told_once_and_taken_back(place: RunFolder) -> None:
    said: list[str] = []
    report = ProvisionalReport(place.folder, said.append)
    for _ in range(2):
        report.tell(report.turn)
    (line,) = said
    assert line.endswith("/report.md")
    assert pages(place) == ["report.html", "report.json", "report.md"]
    assert report.answers
    report.withdraw()
    assert (said[1:], pages(place), report.answers) == ([WITHDRAWN], [], {})


@pytest.mark.parametrize("withdrawn", [True, False])
def test_a_report_that_comes_after_its_withdrawal_or_the_end_of_the_job_is_not_told(
    place: RunFolder, withdrawn: bool
) -> None:
    said: list[str] = []
    report = ProvisionalReport(place.folder, said.append)
    begun = report.turn
    report.withdraw() if withdrawn else report.close()
    report.tell(begun)
    assert (said, pages(place), report.answers) == ([WITHDRAWN] * withdrawn, [], {})


STALL, LATER = (Stall(began_s=began_s, seen_s=began_s + 10) for began_s in (4.0, 9.0))


@pytest.fixture
def state(place: RunFolder) -> Path:
    kept = place.record / EXPECTED
    kept.mkdir()
    (kept / "agents").mkdir()
    (kept / "job.json").write_text((place.record / "job.json").read_text())
    return kept


@pytest.mark.parametrize("wanted_first", [True, False])
def test_what_was_prepared_is_told_when_the_stall_has_come(place: RunFolder, state: Path, wanted_first: bool) -> None:
    said: list[str] = []
    report = ProvisionalReport(place.folder, said.append)
    if wanted_first:  # the making took longer than was left
        report.want(STALL)
    report.prepare(report.turn, STALL)
    assert (len(said), len(pages(place))) == (wanted_first, 3 * wanted_first)
    report.want(STALL)
    assert (len(said), pages(place)) == (1, ["report.html", "report.json", "report.md"])
    assert report.answers
    assert ((place.record / BEFORE).is_dir(), state.exists()) == (True, False)


def test_what_was_prepared_for_another_pause_or_withdrawn_meanwhile_is_not_told(place: RunFolder, state: Path) -> None:
    said: list[str] = []
    report = ProvisionalReport(place.folder, said.append)
    report.prepare(report.turn, STALL)
    report.want(LATER)
    assert (said, pages(place)) == ([], [])
    begun = report.turn
    report.withdraw()
    assert not state.exists()
    copytree(place.record, state, ignore=ignore_patterns(".*"))
    report.prepare(begun, LATER)
    report.want(LATER)
    assert (said, pages(place), (place.record / BEFORE).exists()) == ([WITHDRAWN], [], False)


def test_sources_wait_for_a_report_that_is_still_in_the_making(place: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("step()\n")
    file = JobFactsFile(place.record / "job.json", command=["train"], cwd="/job", started_ns=7, python=sys.executable)
    captures = CaptureController(place, file, 600.0, ["train"], print, kill=True, now=time.monotonic)
    assert captures._work.begin(lambda: time.sleep(0.5))
    captures.keep_sources([[sys.executable, str(tmp_path / "train.py")]])
    index = json.loads((place.record / "sources" / "index.json").read_text())
    assert (index, file.missing) == ({str(tmp_path / "train.py"): "001-train.py"}, [])
