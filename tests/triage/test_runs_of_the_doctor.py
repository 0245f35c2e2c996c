"""What `ups-doctor run` and `attach` leave is told as what became of the job, not as what its exit code was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.report import headline
from diagnostics.triage.engine import triage
from diagnostics.triage.readers.doctor_log import CLAIMS
from diagnostics.triage.readers.log_text import doctors_word

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


def test_a_job_that_hung_did_not_crash_and_its_log_is_the_same_run(tmp_path: Path) -> None:
    words = ["run", "--report-dir", "reports/1-run", "--stall-timeout", "2", "--"]
    job = "import threading; print('begun', flush=True); lock = threading.Lock(); lock.acquire(); lock.acquire()"
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    line = [*DOCTOR, *words, sys.executable, "-c", job]
    with (tmp_path / "train.log").open("wb") as log:
        subprocess.run(line, cwd=tmp_path, env=env, stdout=log, stderr=log, timeout=120, check=False)
    assert fate(tmp_path)[0] == "hung", (tmp_path / "train.log").read_text()
    assert fate(tmp_path / "train.log")[0] == fate(tmp_path / "reports")[0] == "hung"


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ({"ended_by": "measured", "exit_code": 1}, "ended when measured"),
        ({"ended_by": "deadlock", "exit_code": 1}, "hung"),
        ({"ended_by": "interrupt", "exit_code": 1}, "killed"),
        ({"ended_by": "itself", "exit_code": 1}, "crashed"),
        ({"ended_by": "itself", "signal": 11}, "crashed"),
        ({"ended_by": "itself", "exit_code": 0}, "finished"),
    ],
)
def test_where_no_report_was_written_the_record_says_how_it_ended(
    tmp_path: Path, end: dict[str, object], expected: str
) -> None:
    facts = {"command": ["true"], "cwd": "/", "started_ns": time.time_ns(), "ended_s": 3.0, **end}
    (tmp_path / "1-perf" / "record").mkdir(parents=True)
    (tmp_path / "1-perf" / "record" / "job.json").write_text(json.dumps(facts))
    (row,) = triage([tmp_path]).rows
    assert row.judgement.fate.value == expected


GOT = "torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: {}\n"
HEAD = 'Traceback (most recent call last):\n  File "/job/train.py", line 3, in <module>\n    step()\n'
RANK_FAILED = "E1 torch/distributed/elastic/x.py:882] failed (exitcode: 1) local_rank: 1 (pid: 9) of binary\n"
LOGS = {
    "a launcher that was asked to end": (HEAD + GOT.format(15), "killed"),
    "its first word alone": (
        "W1 torch/distributed/elastic/agent/server/api.py:753] Received 2 death signal, shutting down workers\n",
        "killed",
    ),
    "an older Python's form of it": (
        "WARNING:torch.distributed.elastic.agent:Received Signals.SIGTERM death signal, shutting down workers\n",
        "killed",
    ),
    "a rank had failed before": (HEAD + "KeyError: 'scale'\n" + RANK_FAILED + HEAD + GOT.format(15), "crashed"),
    "Ctrl-C of one process": (HEAD + "KeyboardInterrupt\n", "killed"),
    "Ctrl-C after something else": (HEAD + "KeyError: 'scale'\n" + HEAD + "KeyboardInterrupt\n", "crashed"),
    "an exception": (HEAD + "KeyError: 'scale'\n", "crashed"),
    "the doctor's word": (HEAD + GOT.format(15) + "ups-doctor: The job hung: rank-stalled on rank 0.\n", "hung"),
    "the doctor's word about an interruption": (HEAD + "KeyError: 1\nups-doctor: The job was interrupted.\n", "killed"),
    "slow and interrupted": (
        "ups-doctor: The job is slow: straggler on rank 0.\n  note   SIGINT at 13.8 s ended the job while it went on\n",
        "killed",
    ),
    "the doctor saw a crash before the signal": (
        HEAD + GOT.format(2) + "ups-doctor: The job crashed: python-exception on rank 1 at train.py:7.\n",
        "crashed",
    ),
    "what the doctor said early is not its last word": (
        "ups-doctor: Provisional: The job hung.\n\x1b[32mups-doctor: The job ended well.\x1b[0m\n",
        "finished",
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_ends_with_a_signal_is_that_of_a_job_that_was_ended(tmp_path: Path, name: str) -> None:
    text, expected = LOGS[name]
    (tmp_path / "train.log").write_text(text)
    assert fate(tmp_path)[0] == expected


def test_each_headline_of_a_job_that_is_over_is_understood_in_a_log() -> None:
    told = {*headline.OUTCOMES.values(), *(one for words in headline.CUT_SHORT.values() for one in words.values())}
    told = (told | {headline.NOT_SEEN}) - {headline.OUTCOMES[JobOutcome.UNKNOWN]}
    for words in told:
        found = doctors_word(f"ups-doctor: {words}.\n")
        assert found is not None, words
        assert found["outcome"] in CLAIMS


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
