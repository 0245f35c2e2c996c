"""Where report.html could not be written, one line says so, and the rest is as it would be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from small_disk import disk, written_without_room_for_the_page

DOCTOR = [sys.executable, "-c", "from diagnostics.cli import main; main()"]
IS_A_FOLDER = "no report.html: cannot write {}/report.html: it is a folder, a file was expected"
FULL = "no report.html: cannot write {}/report.html: the disk is full"
# Takes the place of the page as soon as the folder of the report is there.
OBSTRUCTS = """
import os, sys, time
while not os.path.isdir("r"):
    time.sleep(0.01)
os.mkdir("r/report.html")
print("obstructed", flush=True)
sys.stdin.read()
"""


def doctor(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*DOCTOR, *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )


def watched(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    return doctor(folder, "run", "--report-dir", "r", "--", "bash", "-c", command)


def test_a_watched_job_ends_as_it_would_and_its_last_line_says_why_it_has_no_page(tmp_path: Path) -> None:
    ended = watched(tmp_path, "mkdir r/report.html; exit 3")
    last = ended.stderr.splitlines()[-1]
    assert (ended.returncode, last) == (3, f"  report: r/report.md ({IS_A_FOLDER.format(tmp_path / 'r')})")
    (tmp_path / "twin").mkdir()
    healthy = watched(tmp_path / "twin", "exit 3")
    assert ended.stderr.splitlines()[:-1] == healthy.stderr.splitlines()[:-1]
    assert healthy.stderr.splitlines()[-1] == "  report: r/report.md"


def test_a_diagnosis_without_a_page_says_so_and_stays_the_same(tmp_path: Path) -> None:
    assert watched(tmp_path, "exit 3").returncode == 3

    def diagnosed(place: Path) -> str:
        ended = doctor(tmp_path, "diagnose", "r", "--report-dir", place / "d")
        assert (ended.returncode, ended.stderr) == (1, "")
        return ended.stdout

    said, told = written_without_room_for_the_page(tmp_path, diagnosed)
    assert said.splitlines()[-1] == "  report: PLACE/d/report.md"
    assert told == said.replace("report.md\n", f"report.md ({FULL.format('PLACE/d')})\n")


def test_a_preflight_without_a_page_says_so_and_stays_the_same(tmp_path: Path) -> None:
    def checked(place: Path) -> str:
        ended = doctor(tmp_path, "preflight", "--stages", "host", "--skip", "P111,P112", "--report-dir", place)
        (place / "last-good-preflight.json").unlink(missing_ok=True)
        assert ended.returncode == 0
        return re.sub(r"\d{8}-\d{6}", "TIME", ended.stderr.splitlines()[-1])

    said, told = written_without_room_for_the_page(tmp_path, checked)
    assert said == "report: PLACE/TIME-preflight/report.md"
    assert told == f"{said} ({FULL.format('PLACE/TIME-preflight')})"


def test_a_look_into_a_running_job_says_why_it_has_no_page(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OBSTRUCTS], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as job:
        ended = doctor(tmp_path, "attach", str(job.pid), "--seconds", "2", "--report-dir", "r")
        assert job.stdout is not None
        assert job.stdin is not None
        assert job.stdout.readline() == b"obstructed\n"
        job.stdin.close()
    assert ended.stdout.splitlines()[-1] == f"  report: r/report.md ({IS_A_FOLDER.format(tmp_path / 'r')})"


def test_a_page_that_is_to_be_opened_on_a_disk_that_nobody_may_write_to_is_one_sentence(tmp_path: Path) -> None:
    with disk(tmp_path / "old", 1 << 20) as old:
        (old / "report.md").write_text("# A report\n")
        subprocess.run(["mount", "-o", "remount,ro", str(old)], check=True)
        ended = doctor(tmp_path, "open", "old")
    assert (ended.returncode, ended.stdout, ended.stderr.splitlines()) == (
        2,
        "",
        [
            "error: no report.html: cannot write old/report.html: the file system is read-only",
            "  the same in plain text: old/report.md",
        ],
    )
