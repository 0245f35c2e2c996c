"""`export` and `open`, on the record of a real run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCTOR = (sys.executable, "-c", "from diagnostics.cli import main; main()")
PLAIN = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}


def doctor(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DOCTOR, *words], cwd=cwd, env={**PLAIN, "RANK": "0"}, capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a job failed under the doctor."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "train.py").write_text("raise ValueError('<b>bad</b> batch')\n")
    assert doctor("run", "--report-dir", "reports/r-run", "--", sys.executable, "train.py", cwd=folder).returncode == 1
    return folder


def test_a_run_is_exported_in_every_format_that_has_a_place_for_it(folder: Path) -> None:
    formats = ("--perfetto", "--chrome", "--flight-recorder", "--json-lines", "--otel")
    found = doctor("export", "reports/r-run", *formats, "--to", "traces", cwd=folder)
    assert (found.returncode, found.stderr) == (
        0,
        "flight-recorder: no rank of this record left anything that it has a place for\n",
    )
    names = sorted(path.name for path in (folder / "traces").iterdir())
    assert names == ["trace-chrome.json", "trace-otlp.json", "trace.jsonl", "trace.perfetto-trace"]
    assert "--data @traces/trace-otlp.json http" in found.stdout
    assert "ValueError: <b>bad</b> batch" in (folder / "traces" / "trace.jsonl").read_text()


def test_the_latest_page_is_opened_and_its_path_is_printed(folder: Path) -> None:
    found = doctor("open", cwd=folder)
    assert (found.returncode, found.stdout) == (0, f"{folder}/reports/r-run/report.html\n")
    assert "&lt;b&gt;bad&lt;/b&gt; batch" in Path(found.stdout.strip()).read_text()
    assert doctor("open", "reports/r-run/record", cwd=folder).stdout == found.stdout


def test_a_folder_without_a_page_or_a_record_says_so(folder: Path, tmp_path: Path) -> None:
    assert doctor("open", cwd=tmp_path).stderr.startswith(f"error: no report.html below {tmp_path}/reports\n")
    without = doctor("open", str(tmp_path), cwd=folder)
    assert (without.returncode, without.stderr) == (
        2,
        f"error: {tmp_path} holds no report.html\n  name the folder of a report: reports/<time>-run/\n",
    )
    (tmp_path / "left" / "record").mkdir(parents=True)  # of a doctor that was killed
    assert doctor("open", "left", cwd=tmp_path).stderr == (
        "error: left holds no report.html\n  have it made: ups-doctor diagnose left\n"
    )
    assert doctor("export", "reports/r-run", cwd=folder).stderr.startswith("error: no format named\n")
    assert doctor("export", "nowhere", "--otel", cwd=folder).returncode == 2
