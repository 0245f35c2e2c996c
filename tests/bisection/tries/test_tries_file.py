"""What was tried is known again after the process has ended, as long as what it rests on is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.bisection.case import Configuration, Source
from diagnostics.bisection.trial import Failure, FailureKind, ModuleNode, Trial
from diagnostics.bisection.tries.attempts import Deadlines
from diagnostics.bisection.tries.side_effects import FolderState, what_will_run, written_line
from diagnostics.bisection.tries.source_stamp import source_stamp
from diagnostics.bisection.tries.tries_file import TriesFile, known_case
from diagnostics.core.errors import DoctorError

CASE = Configuration(source=Source(factory="model:Net"))
TRIAL = Trial(
    case=CASE.set(world=2).without("a.b"),
    failure=Failure(
        kind=FailureKind.SIGNAL,
        detail="SIGSEGV",
        places=("model.py:31 forward",),
        phase="forward",
        step=1,
        ranks=(0, 1),
    ),
    seconds=0.5,
    runs=5,
    failed=2,
    tree=(ModuleNode(path="a.b", class_name="B", calls=1),),
    torch="2.13.0",
)
STAMP = {"torch": "2.13.0", "the source": "abc"}


def test_a_trial_is_read_back_whole(tmp_path: Path) -> None:
    file = TriesFile(tmp_path / "tries.jsonl", STAMP)
    file.add(TRIAL)
    again = TriesFile(tmp_path / "tries.jsonl", STAMP)
    assert (known_case(again, TRIAL.case), known_case(again, CASE), again.set_aside) == (TRIAL, None, "")


def test_a_line_that_was_cut_off_costs_that_trial_alone(tmp_path: Path) -> None:
    path = tmp_path / "tries.jsonl"
    TriesFile(path, STAMP).add(TRIAL)
    whole = path.read_text()
    path.write_text(whole + whole.splitlines()[-1][:50])
    again = TriesFile(path, STAMP)
    again.add(Trial(case=CASE))
    assert set(TriesFile(path, STAMP).known) == {TRIAL.case.key, CASE.key}


def test_tries_of_another_source_do_not_count(tmp_path: Path) -> None:
    TriesFile(tmp_path / "tries.jsonl", STAMP).add(TRIAL)
    again = TriesFile(tmp_path / "tries.jsonl", {**STAMP, "the source": "other"})
    assert (again.known, again.set_aside) == ({}, "the source changed since")
    assert TriesFile(tmp_path / "tries.jsonl", STAMP).set_aside == "the source changed since"


def test_no_secret_is_written(tmp_path: Path) -> None:
    secret = CASE.set(env=(("HF_TOKEN", "hf_abcdefghijklmnopqrstuvwxyz0123"),))
    file = TriesFile(tmp_path / "tries.jsonl", STAMP)
    file.add(Trial(case=secret, refusal="--password hunter2 was refused"))
    assert known_case(TriesFile(tmp_path / "tries.jsonl", STAMP), secret) is not None
    text = (tmp_path / "tries.jsonl").read_text()
    assert [word for word in ("hunter2", "hf_abcdef") if word in text] == []


def test_a_folder_that_takes_no_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "tries.jsonl").mkdir()
    with pytest.raises(DoctorError, match="cannot keep what was tried in"):
        TriesFile(tmp_path / "tries.jsonl", STAMP)


def test_the_stamp_changes_with_the_code_and_with_the_named_files_only(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("a = 1")
    config = tmp_path / "c.yaml"
    config.write_text("x: 1")
    source = Source(adapter=("ups.job", "inspect", str(config)))
    before = source_stamp([source], tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "repro.py").write_text("x")
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "tries.jsonl").touch()
    (tmp_path / "found" / "repro.py").write_text("x")
    assert source_stamp([source], tmp_path) == before
    config.write_text("x: 2")
    changed = source_stamp([source], tmp_path)
    (tmp_path / "model.py").write_text("a = 2")
    assert len({before, changed, source_stamp([source], tmp_path)}) == 3


def test_the_deadline_follows_what_healthy_tries_took() -> None:
    deadlines = Deadlines()
    assert (deadlines.usual(CASE), deadlines.longer(CASE)) == (60.0, 60.0)
    deadlines.learn(CASE, 0.5)
    assert (deadlines.usual(CASE), deadlines.longer(CASE)) == (5.0, 20.0)
    deadlines.learn(CASE, 4.0)
    assert (deadlines.usual(CASE), deadlines.longer(CASE)) == (24.0, 60.0)
    assert deadlines.usual(CASE.set(compile=True)) == 100.0
    assert Deadlines().usual(CASE.set(compile=True)) == 300.0
    assert Deadlines(most_s=7.0).usual(CASE) == 7.0


def test_files_that_the_first_try_writes_are_told(tmp_path: Path) -> None:
    report = tmp_path / "reports"
    for folder in (report, tmp_path / ".git", tmp_path / "__pycache__"):
        folder.mkdir()
    (tmp_path / "old.txt").write_text("old")
    state = FolderState(tmp_path, but=report)
    assert written_line(state.written()) == ""
    for name in ("reports/tries.jsonl", ".git/index", "__pycache__/model.pyc", "cache.bin"):
        (tmp_path / name).write_text("x")
    (tmp_path / "old.txt").write_text("newer")
    assert written_line(state.written()) == (
        "the first try wrote 2 files in the current folder (cache.bin, old.txt); the others will, too"
    )


def test_what_will_run_is_said_before() -> None:
    again = "in processes of its own: what that writes, downloads or sends happens again each time"
    assert what_will_run(Source(factory="m:Net", inputs="m:batch")) == f"each try runs m:Net and m:batch {again}"
    adapter = Source(adapter=("ups.job", "inspect", "c.yaml"))
    assert what_will_run(adapter) == f"each try runs ups.job inspect c.yaml {again}"
