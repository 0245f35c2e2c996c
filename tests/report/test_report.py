from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from examples import HEALTHY, MIXED

from diagnostics.core.files import new_folder, write_whole
from diagnostics.preflight import baseline
from diagnostics.report.check_report import CheckReport
from diagnostics.report.folder import json_text, markdown, write
from diagnostics.report.place import open_place

GOLDEN = Path(__file__).parents[2] / "reports" / "examples" / "preflight"
NOON = 1_700_000_000.0


def report(**changes: object) -> CheckReport:
    fields: dict[str, object] = {
        "verdict": MIXED,
        "command": "ups-doctor preflight configs/quickstart.yaml --set tracking.token=abc",
        "started": "2026-03-01T12:00:00+0000",
        "doctor_version": "0.1.0",
        "exit_code": 1,
        "facts": {"examined": "configs/quickstart.yaml", "ranks": "2", "backend": "gloo"},
        "variables": {"MASTER_PORT": "29500", "NCCL_DEBUG": "INFO"},
    }
    return CheckReport(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "text"), [("report.md", markdown(report())), ("report.json", json_text(report()))])
def test_the_example_report_is_what_is_written_today(name: str, text: str) -> None:
    golden = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):  # read the difference in review: UPDATE_GOLDEN=1 pytest tests/test_report.py
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()


def test_a_healthy_report_has_no_empty_sections() -> None:
    lines = markdown(report(verdict=HEALTHY, exit_code=0, facts={}, variables={})).splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# Preflight report",
        "## Checks",
        "## Seconds by stage",
        "## Measurements",
        "## Environment variables",
        "## Run it again",
    ]
    assert lines[2] == "**Nothing stands against training here.**"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"interrupted": True}, "Interrupted: this is what was found before that."),
        ({"verdict": type(MIXED)(outcomes=MIXED.outcomes[3:4], seconds=0.1), "exit_code": 0}, "Nothing was checked."),
        (
            {"verdict": type(MIXED)(outcomes=MIXED.outcomes[:2], seconds=0.1), "exit_code": 0},
            "Nothing stands against training here. There are warnings.",
        ),
        (
            {"verdict": type(MIXED)(outcomes=MIXED.outcomes[:2], seconds=0.1), "exit_code": 1},
            "Warnings were found, and --strict counts them as errors.",
        ),
        (
            {"verdict": type(MIXED)(outcomes=MIXED.outcomes[4:5], seconds=30.0), "exit_code": 3},
            "Undecided: some checks crashed or gave no answer, so nothing is proven about what they look at.",
        ),
    ],
)
def test_the_verdict_stands_first(changes: dict[str, object], sentence: str) -> None:
    assert markdown(report(**changes)).splitlines()[2] == f"**{sentence}**"


def test_a_folder_is_never_used_twice_and_is_private(tmp_path: Path) -> None:
    folders = [new_folder(tmp_path / "reports", now=NOON) for _ in range(3)]
    assert len(set(folders)) == 3
    assert [folder.name.partition("-preflight")[2] for folder in folders] == ["", "-2", "-3"]
    assert stat.S_IMODE(folders[0].stat().st_mode) == 0o700


def test_a_report_leaves_three_whole_files_and_no_part(tmp_path: Path) -> None:
    assert write(report(), tmp_path) == f"report: {tmp_path}/report.md"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.json", "report.md"]
    assert json.loads((tmp_path / "report.json").read_text())["exit_code"] == 1


def test_a_write_that_fails_keeps_the_old_file_and_no_part(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "kept", "half \udc80")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("kept", "old")]


def test_a_report_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file where the folder should be")
    place = open_place(tmp_path / "reports")
    line = place.write(report())
    place.folder.rmdir()
    assert line == (
        f"no report was written: cannot write {tmp_path}/reports: it exists already "
        "(choose another name, or move it away)"
    )


def test_a_folder_that_went_away_is_one_sentence(tmp_path: Path) -> None:
    place = open_place(tmp_path / "reports")
    place.folder.rmdir()
    assert place.write(report()) == (
        f"no report was written: cannot write {place.folder}: no such file or folder "
        f"(check the spelling: ls -l {place.folder.parent})"
    )


def test_the_last_good_measurements_are_those_of_passed_checks(tmp_path: Path) -> None:
    baseline.remember(tmp_path, "host:2:gloo", HEALTHY)
    assert baseline.read(tmp_path, "host:2:gloo") == {"P101": {"import_seconds": 1.0625, "torch": "2.13.0+cpu"}}
    assert baseline.read(tmp_path, "host:4:gloo") == {}


def test_a_failed_run_is_not_remembered_and_another_run_is_kept(tmp_path: Path) -> None:
    baseline.remember(tmp_path, "host:2:gloo", HEALTHY)
    baseline.remember(tmp_path, "host:4:gloo", HEALTHY)
    baseline.remember(tmp_path, "host:2:gloo", MIXED)
    assert [*json.loads((tmp_path / baseline.FILE).read_text())] == ["host:2:gloo", "host:4:gloo"]


@pytest.mark.parametrize("damaged", ["", "[1]", '{"host:2:gloo": 3}', '{"host:2:gloo": {"P101": 3}}', "\x00"])
def test_a_damaged_memory_is_no_memory(tmp_path: Path, damaged: str) -> None:
    (tmp_path / baseline.FILE).write_text(damaged)
    assert baseline.read(tmp_path, "host:2:gloo") == {}
    baseline.remember(tmp_path, "host:2:gloo", HEALTHY)
    assert baseline.read(tmp_path, "host:2:gloo") == {"P101": {"import_seconds": 1.0625, "torch": "2.13.0+cpu"}}
