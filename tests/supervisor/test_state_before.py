"""The state of a job that is kept before its first signal: whole, private, and in the place of an earlier one."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hand_made import a_match

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.hang.rank_outside_collectives import CODE
from diagnostics.diagnosis.with_deadline import Haste, diagnose_in_time
from diagnostics.record.record import BEFORE, RunRecord
from diagnostics.record.supervisor_facts import SeenProcess, SentSignal, Stall, SupervisorFacts
from diagnostics.supervisor.capture import pre_signal_state
from diagnostics.supervisor.capture.pre_signal_state import BLOCK_BYTES, keep_state
from diagnostics.supervisor.capture.run_folder import RunFolder, open_run_folder

FACTS = SupervisorFacts(
    command=("python", "train.py"), cwd="/job", started_ns=7, ended_by="interrupt", ended_s=9.0,
    processes=(SeenProcess(pid=7, start_ticks=1),), stalls=(Stall(began_s=1.0, seen_s=2.0),),
)  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> RunFolder:
    place = open_run_folder(tmp_path / "report")
    (place.record / "job.json").write_text('{"command": [], "cwd": "", "started_ns": 7}')
    (place.record / "sources" / "index.json").write_text('{"/job/train.py": "001-train.py"}')
    (place.record / "sources" / "001-train.py").write_text("train()\n")
    return place


def test_what_was_kept_is_read_back_as_a_job_that_runs(place: RunFolder) -> None:
    (place.record / "captures" / "proc-7.json").write_text("{}")
    (place.record / "output" / "all.txt").write_text("begun\n")
    assert keep_state(place, FACTS) == ()
    (place.record / "output" / "all.txt").write_text("begun\nKeyboardInterrupt\n")
    kept = RunRecord.load(place.record).before()
    assert kept is not None
    assert kept.job is not None
    assert (kept.job.ended_by, kept.job.ended_s, kept.job.stalls) == ("itself", None, FACTS.stalls)
    assert (kept.outputs, kept.captures) == ({"all.txt": "begun\n"}, {"proc-7.json": "{}"})
    assert kept.sources == {"/job/train.py": "train()\n"}


def test_a_file_full_of_holes_is_copied_byte_for_byte_and_takes_no_room(place: RunFolder) -> None:
    data = bytes(5 * BLOCK_BYTES) + b"event" + bytes(BLOCK_BYTES + 7)
    (place.agents / "agent-7-1.bin").write_bytes(data)
    keep_state(place, FACTS)
    copy = place.record / "before" / "agents" / "agent-7-1.bin"
    assert copy.read_bytes() == data
    assert copy.stat().st_blocks * 512 <= 2 * BLOCK_BYTES


def test_links_and_pipes_stay_where_they_are_and_only_the_owner_may_read(place: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hidden")
    (place.record / "captures" / "link.json").symlink_to(tmp_path / "secret")
    os.mkfifo(place.agents / "flight-7-1.fifo")
    (place.record / "captures" / "proc-7.json").write_text("{}")
    keep_state(place, FACTS)
    before = place.record / "before"
    kept = {str(path.relative_to(before)): path.stat().st_mode & 0o777 for path in before.rglob("*")}
    assert kept == {
        "agents": 0o700, "captures": 0o700, "output": 0o700, "captures/proc-7.json": 0o600, "job.json": 0o600,
    }  # fmt: skip


def test_a_later_state_takes_the_place_of_an_earlier_one(place: RunFolder) -> None:
    for name in ("first", "second"):
        for old in (place.record / "captures").iterdir():
            old.unlink()
        (place.record / "captures" / f"{name}.json").write_text("{}")
        keep_state(place, FACTS)
    assert [path.name for path in (place.record / "before" / "captures").iterdir()] == ["second.json"]
    assert [path.name for path in place.record.iterdir() if path.name.startswith(".")] == []


def test_where_it_cannot_be_kept_the_record_says_so_and_no_older_state_stays(place: RunFolder) -> None:
    assert keep_state(place, FACTS) == ()
    (place.record / "output").rmdir()
    (place.record / "output").write_text("")
    (missing,) = keep_state(place, FACTS)
    assert missing.what == "the state before the first signal"
    assert RunRecord.load(place.record).before() is None


@pytest.mark.parametrize("known", [True, False])
def test_who_has_no_time_to_ask_again_says_what_was_said_while_the_job_stood_still(
    place: RunFolder, known: bool
) -> None:
    keep_state(place, FACTS)
    sent = (SentSignal(pid=7, signal=2, at_s=8.0, why="interrupt"),)
    facts = replace(FACTS, sent=sent, exit_code=1)
    (place.record / "job.json").write_text(json.dumps(asdict(facts)))
    stalled = a_match(CODE, "rank-stalled", outcome=JobOutcome.HANG, confidence=Confidence.LIKELY, ranks=(1,))
    until_s = time.monotonic() + 25  # less than it may take: nothing is asked any more
    haste = Haste(until_s=lambda: until_s)
    earlier = {f"{CODE}{BEFORE}": stalled} if known else {}
    report, _ = diagnose_in_time(place.folder, haste=haste, earlier=earlier)
    said = ("rank-stalled", (1,)) if known else ("unknown", ())
    assert (report.outcome, report.failure_class, report.culprit_ranks) == (JobOutcome.HANG, *said)
    assert report.exit_code == 130
    assert any(f"signature {CODE}" in gap for gap in report.not_captured) is not known


def test_a_state_behind_a_link_is_not_read(place: RunFolder, tmp_path: Path) -> None:
    keep_state(place, FACTS)
    (place.record / "before").rename(tmp_path / "elsewhere")
    (place.record / "before").symlink_to(tmp_path / "elsewhere")
    assert RunRecord.load(place.record).before() is None


def test_a_file_that_vanishes_while_the_state_is_kept_costs_nothing_else(
    place: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agent-7-1.bin", "agent-8-1.bin", "stream-1-2"):
        (place.agents / name).touch()
    listed = os.scandir

    def vanishing(folder: Path) -> list[os.DirEntry[str]]:
        with listed(folder) as entries:
            found = list(entries)
        (place.agents / "stream-1-2").unlink(missing_ok=True)  # as the relay does
        return found

    monkeypatch.setattr(os, "scandir", vanishing)
    assert keep_state(place, FACTS) == ()
    monkeypatch.undo()
    kept = [path.name for path in sorted((place.record / "before" / "agents").iterdir())]
    assert kept == ["agent-7-1.bin", "agent-8-1.bin"]


def test_where_not_all_can_be_kept_the_oldest_processes_are_whatever_they_wrote_last(
    place: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pre_signal_state, "MOST_BYTES", 350)
    sizes = {"agent-9-30.bin": 100, "agent-8-100.bin": 100, "agent-700-20.bin": 200, "agent-7-9.bin": 300}
    for name, size in sizes.items():  # the rank, pid 7, writes all the time: its file is the one that changed last
        (place.agents / name).write_bytes(b"x" * size)
    (place.record / "captures" / "proc-7.json").write_bytes(b"x" * 51)
    (place.record / "output" / "all.txt").write_bytes(b"x" * 50)
    assert keep_state(place, FACTS) == ()
    before = place.record / "before"
    kept = sorted(str(path.relative_to(before)) for path in before.rglob("*") if path.is_file())
    assert kept == ["agents/agent-7-9.bin", "job.json", "output/all.txt"]
