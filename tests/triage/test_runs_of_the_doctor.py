"""What `ups-doctor run` and `attach` leave is told as what became of the job, not as what its exit code was."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from diagnostics.triage.engine import triage

DOCTOR = [sys.executable, "-c", "from diagnostics.cli import main; main()"]
PROJECT = Path(__file__).parents[2]
LASTS = "import time; print('begun', flush=True); time.sleep(600)"
DAY_S = 86_400.0


def doctor(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    program = [*DOCTOR, *words[:1], "--report-dir", str(folder), *words[1:]]
    return subprocess.Popen(program, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def fate(folder: Path) -> tuple[str, str]:
    (row,) = triage([folder], now_s=time.time() + DAY_S).rows
    return row.judgement.fate.value, row.judgement.evidence[0]


def test_a_job_that_was_interrupted_was_killed_and_did_not_crash(tmp_path: Path) -> None:
    run = doctor(tmp_path / "run", "run", "--", sys.executable, "-c", LASTS)
    assert run.stdout is not None
    assert run.stdout.readline() == b"begun\n"
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode == 130
    assert fate(tmp_path / "run") == (
        "killed",
        "the doctor's report says that it was ended while it went on: the job was ended by SIGINT to the doctor",
    )


def test_its_twin_that_leaves_with_an_error_has_crashed(tmp_path: Path) -> None:
    doctor(tmp_path / "run", "run", "--", sys.executable, "-c", "1 / 0").communicate(timeout=60)
    assert fate(tmp_path / "run")[0] == "crashed"


def test_a_job_that_somebody_only_looked_at_is_not_known_to_have_crashed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", LASTS], stdout=subprocess.PIPE) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == b"begun\n"
        doctor(tmp_path / "look", "attach", str(job.pid), "--seconds", "1").communicate(timeout=60)
        job.kill()
    assert fate(tmp_path / "look")[0] == "unknown"
