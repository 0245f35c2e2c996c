"""`ups-doctor triage` as a process: table, JSON, pages, exit codes, broken input, secrets, a thousand runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from runs_made import FILES, jsonl, table

from diagnostics.triage.engine import triage
from diagnostics.triage.run import DIED
from diagnostics.triage.table import evidence, lines

DOCTOR = str(Path(sys.executable).parent / "ups-doctor")
OLD_S = 1_790_000_100.0


def run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([DOCTOR, "triage", *map(str, words)], capture_output=True, text=True, check=False)


def made_old(folder: Path) -> Path:
    for path in folder.rglob("*"):
        os.utime(path, (OLD_S, OLD_S))
    return folder


def test_the_table_names_each_run_and_the_code_says_that_one_died(tmp_path: Path) -> None:
    jsonl(tmp_path, "well", 5, lr=0.1)
    done = run(made_old(tmp_path))
    assert (done.returncode, table(done.stdout), done.stderr) == (0, [("well", "unknown")], "")
    assert done.stdout.splitlines()[-1].startswith("1 run: 1 unknown (")
    bad = run(next((FILES / "wandb").glob("*-raises-late")))
    assert (bad.returncode, table(bad.stdout)) == (1, [("raises-late", "crashed")])
    good = run(next((FILES / "wandb").glob("*-well-alone")))
    assert (good.returncode, table(good.stdout)) == (0, [("well-alone", "finished")])


def test_json_markdown_and_html_tell_the_same_runs_and_no_secret(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    plain = json.loads(run(FILES / "wandb", "--json", "--html", page).stdout)
    markdown = run(FILES / "wandb", "--markdown").stdout
    names = [one["run"] for one in plain["runs"]]
    assert (plain["kind"], len(names)) == ("triage", 10)
    html = page.read_text()
    for text in (markdown, html):
        assert [name for name in names if name not in text] == []
    assert "CANARY" not in json.dumps(plain) + html + markdown
    assert plain["runs"][0]["settings"]["api_key"] == "[redacted]"


def test_a_run_that_perf_has_measured_and_ended_is_not_dead(tmp_path: Path) -> None:
    facts = {"command": ["true"], "cwd": "/", "started_ns": time.time_ns(), "ended_s": 3.0, "ended_by": "measured"}
    (tmp_path / "1-perf" / "record").mkdir(parents=True)
    (tmp_path / "1-perf" / "record" / "job.json").write_text(json.dumps({**facts, "exit_code": 1}))
    done = run(tmp_path)
    assert (done.returncode, table(done.stdout)) == (0, [("1-perf", "ended when measured")])
    (tmp_path / "1-perf" / "record" / "job.json").write_text(json.dumps({**facts, "ended_by": "itself", "signal": 11}))
    assert run(tmp_path).returncode == 1


def test_the_page_goes_into_a_folder_that_is_made_and_not_in_the_place_of_a_file(tmp_path: Path) -> None:
    runs = next((FILES / "wandb").glob("*-well-alone"))
    assert run(runs, "--html", tmp_path / "new" / "folder" / "page.html").returncode == 0
    page = tmp_path / "new" / "folder" / "page.html"
    assert page.read_text().startswith("<!doctype html>")
    below, onto = run(runs, "--html", page / "page.html"), run(runs, "--html", page.parent)
    assert [one.returncode for one in (below, onto)] == [2, 2]
    assert below.stderr.startswith(f"error: cannot write {page}/page.html: a part of the path is not a folder\n")
    assert onto.stderr.startswith(f"error: cannot write {page.parent}: it is a folder, a file was expected\n")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_every_run_is_told_in_lines_of_the_terminal(width: int) -> None:
    found = triage([FILES / "wandb"])
    told, narrow = lines(found), lines(found, width=width)
    assert max(map(len, narrow)) <= width < max(map(len, told)) or width == 200
    words = " ".join(" ".join(narrow).split())
    assert [row.run.name for row in found.rows if row.run.name not in words] == []
    assert [one.judgement.fate for one in found.rows if one.judgement.fate not in words] == []
    assert [
        text for row in found.rows for text in evidence(row) if row.judgement.fate in DIED and text not in words
    ] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "error: cannot read nowhere: no such file or folder\n  check the spelling: ls -l .\n"),
        ((), "error: triage needs a PATH\n  for example: ups-doctor triage wandb/ slurm-*.out\n"),
        (("empty",), "error: no run was found in empty\n"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    (tmp_path / "empty").mkdir()
    done = subprocess.run([DOCTOR, "triage", *words], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)


def test_files_that_are_no_such_files_are_said_and_stop_no_other_run(tmp_path: Path) -> None:
    jsonl(tmp_path, "well", 5, lr=0.1)
    broken = tmp_path / "offline-run-20260301_120000-torn"
    (broken / "files").mkdir(parents=True)
    whole = next((FILES / "wandb").glob("*-raises-late/*.wandb")).read_bytes()
    (broken / "run-torn.wandb").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "mlflow.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    (tmp_path / "events.out.tfevents.1790000000.n1.42.0").write_bytes(b"\x10\0\0\0\0\0\0\0" + b"\0" * 9)
    owned = tmp_path / "owned"
    (tmp_path / "well" / "params.yaml").write_text(f"!!python/object/apply:os.system ['touch {owned}']\n")
    (tmp_path / "well" / "config.yaml").unlink()
    done = json.loads(run(made_old(tmp_path), "--json").stdout)
    by_name = {one["run"]: one for one in done["runs"]}
    assert by_name["well"]["rows"] == 5
    assert any("is cut off" in one for one in by_name["raises-late"]["evidence"])
    assert any("cut off" in one for one in by_name[tmp_path.name]["evidence"])
    assert [one for one in done["unread"] if "mlflow.db" in one] != []
    assert not owned.exists()


def test_a_thousand_runs_are_read_in_seconds(tmp_path: Path) -> None:
    source = next((FILES / "wandb").glob("*-killed-at-20"))
    log = (source / "logs" / "debug.log").read_bytes()
    for number in range(1000):
        folder = tmp_path / f"offline-run-20260301_{number:06d}-r{number}"
        (folder / "logs").mkdir(parents=True)
        (folder / "logs" / "debug.log").write_bytes(log)
    began = time.monotonic()
    done = run(made_old(tmp_path), "--json")
    assert len(json.loads(done.stdout)["runs"]) == 1000
    assert time.monotonic() - began < 30
