"""A diagnosis ends in time, whatever gets stuck in it, and says what the others said."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from diagnostics.core.errors import UsageError
from diagnostics.core.thresholds import Thresholds
from diagnostics.diagnosis import engine
from diagnostics.diagnosis.short_report import write_short_report
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.with_deadline import (
    CLOSED,
    Haste,
    NoDiagnosisError,
    _Course,
    diagnose_in_time,
    examine_in_time,
)
from diagnostics.dynamic.job.job import Job
from diagnostics.machine.execution.forked import Forked
from diagnostics.machine.execution.readiness import readable

LOG = """\
Traceback (most recent call last):
  File "train.py", line 3, in main
    raise KeyError("sample_17")
KeyError: 'sample_17'
"""
SOON = Thresholds(signature_deadline_s=0.5, diagnosis_deadline_s=20.0)
HASTE_S = 12.0  # the user is given less; a busy machine may need as long


def loops_in_python(job: Job) -> Match | None:
    while True:
        with suppress(BaseException):  # as code that catches everything does
            time.sleep(0.001)


def loops_in_c(job: Job) -> Match | None:
    re.search(r"(?:[^\n]*[^\n]*)*x$", "a" * 60 + "\n")
    raise AssertionError("this pattern comes to no end")


def dies(job: Job) -> Match | None:
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def says_nothing(job: Job) -> Match | None:
    return None


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "train.log"
    path.write_text(LOG)
    return path


@pytest.fixture
def with_signature(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Job], Match | None]], None]:
    """Adds a signature that is asked before all others."""
    real = engine.discover

    def add(match: Callable[[Job], Match | None]) -> None:
        twin = SimpleNamespace(CODE="D000", NAME="twin", EXAMINES=AppliesTo.ANY, match=match)

        def discover(package: Any, **rest: Any) -> dict[str, Any]:
            return {"D000": twin, **real(package, **rest)}

        monkeypatch.setattr(engine, "discover", discover)

    return add


@pytest.mark.parametrize("stuck", [loops_in_python, loops_in_c])
def test_a_signature_that_never_answers_is_named_and_the_verdict_of_the_others_stands(
    log: Path, with_signature: Any, stuck: Any
) -> None:
    with_signature(stuck)
    began = time.monotonic()
    report = examine_in_time(None, [log], limits=SOON)
    assert time.monotonic() - began < SOON.diagnosis_deadline_s
    assert (report.failure_class, report.location) == ("python-exception", "train.py:3")
    (gap,) = [one for one in report.not_captured if "D000" in one]
    assert re.fullmatch(r"signature D000 twin: no answer within \d+\.\d s", gap)


def test_a_signature_that_takes_the_process_with_it_is_named_too(log: Path, with_signature: Any) -> None:
    with_signature(dies)
    report = examine_in_time(None, [log], limits=SOON)
    assert report.failure_class == "python-exception"
    assert "signature D000 twin: it died of SIGKILL" in report.not_captured


def test_the_healthy_twin_leaves_no_gap_and_the_report_is_that_of_a_diagnosis_without_limits(
    log: Path, with_signature: Any
) -> None:
    with_signature(says_nothing)
    report = examine_in_time(None, [log])
    plain = engine.examine_logs([log])
    assert (report.not_captured, report.notes) == (plain.not_captured, plain.notes)
    assert (report.findings, report.timeline, report.ranks) == (plain.findings, plain.timeline, plain.ranks)


def test_an_error_of_the_diagnosis_reaches_the_caller_as_it_was(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a regular file") as caught:
        examine_in_time(None, [tmp_path / "pipe"])
    assert caught.value.hint == "name the log files of the job"


def test_a_fault_of_ours_is_raised_with_its_traceback(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(engine, "arbitrate", broken)
    with pytest.raises(RuntimeError, match="ZeroDivisionError: of ours"):
        examine_in_time(None, [log])


def test_who_is_in_haste_gets_what_was_said_until_then(log: Path, with_signature: Any, tmp_path: Path) -> None:
    begun_reading, begun_writing = os.pipe()

    def begins_and_loops(job: Job) -> Match | None:
        os.write(begun_writing, b"x")
        return loops_in_python(job)

    with_signature(begins_and_loops)
    record = tmp_path / "report" / "record"
    record.mkdir(parents=True)
    (record / "job.json").write_text('{"command": ["x"], "cwd": "/", "started_ns": 1, "exit_code": 1, "ended_s": 1.0}')
    reading, writing = os.pipe()
    asked_s: list[float] = []

    def ask() -> None:
        os.read(begun_reading, 1)
        asked_s.append(time.monotonic())
        os.write(writing, b"x")

    def until_s() -> float | None:
        return asked_s[0] + HASTE_S if asked_s else None

    asker = threading.Thread(target=ask)
    asker.start()
    report, _ = diagnose_in_time(tmp_path / "report", haste=Haste(until_s=until_s, wake=(reading,)))
    assert time.monotonic() < asked_s[0] + HASTE_S
    gaps = [one for one in report.not_captured if one.startswith("signature ")]
    assert gaps[0].startswith("signature D000 twin: no answer within ")
    assert len(gaps) > 20
    assert report.notes[0] == (
        f"the diagnosis was cut short, and {len(gaps) - 1} known failures were not looked for"
        ": ups-doctor diagnose FOLDER"
    )
    assert {one.partition(": ")[2] for one in gaps[1:]} == {CLOSED}
    assert '"schema": 1' in (tmp_path / "report" / "report.json").read_text()
    asker.join()


def test_reading_that_comes_to_no_end_is_one_sentence_and_a_short_report_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "record"
    record.mkdir()
    (record / "job.json").write_text(
        '{"command": ["train"], "cwd": "/", "started_ns": 1, "exit_code": -6, "ended_by": "deadlock",'
        ' "proved": [{"began_s": 1.0, "proved_s": 2.0, "ranks": [0, 1]}]}'
    )
    monkeypatch.setattr(engine, "job_from_record", lambda *_, **__: time.sleep(600))
    with pytest.raises(NoDiagnosisError, match="came to no end"):
        diagnose_in_time(tmp_path, limits=Thresholds(diagnosis_deadline_s=0.5))
    code, _ = write_short_report(tmp_path, 1, "the diagnosis came to no end in time", print, named="reports/1")
    assert code == 124
    page = (tmp_path / "report.md").read_text()
    assert "ranks 0, 1 waited for each other for ever: that was proved while the job ran" in page


def test_a_provisional_report_is_not_replaced_by_a_short_one(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("what was seen before")
    assert write_short_report(tmp_path, 7, "why", print, named="reports/1") == (7, None)
    assert (tmp_path / "report.md").read_text() == "what was seen before"


@pytest.mark.parametrize("size", [1, 1_000_000])  # what a pipe holds, and what comes in parts
def test_who_was_stopped_until_after_the_deadline_takes_the_report_that_is_there(size: int) -> None:
    course = _Course(Thresholds(diagnosis_deadline_s=0.1), Haste())
    with Forked(lambda send: send(("report", "x" * size))) as copy:
        assert readable([copy.fd], 20)
        time.sleep(max(0.0, course.end_s - time.monotonic()))  # as under Ctrl-Z, which the copy does not hear
        assert course.follow(copy) == "x" * size
