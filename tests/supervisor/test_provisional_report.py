"""What is made beside the loop while a job runs, and comes late: a report that was withdrawn, sources that wait."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

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


def test_sources_wait_for_a_report_that_is_still_in_the_making(place: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("step()\n")
    file = JobFactsFile(place.record / "job.json", command=["train"], cwd="/job", started_ns=7, python=sys.executable)
    captures = CaptureController(place, file, 600.0, ["train"], print, kill=True, now=time.monotonic)
    assert captures._begin(lambda: time.sleep(0.5))
    captures.keep_sources([[sys.executable, str(tmp_path / "train.py")]])
    index = json.loads((place.record / "sources" / "index.json").read_text())
    assert (index, file.missing) == ({str(tmp_path / "train.py"): "001-train.py"}, [])
