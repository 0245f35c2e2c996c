"""From a folder or from logs to a report: real jobs, records from elsewhere that nobody should trust, logs alone."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from diagnostics.core.errors import DoctorError, UsageError
from diagnostics.diagnosis.engine import diagnose, examine, examine_logs, record_folder
from diagnostics.record.record import agent_environment, make_record_folder

TRAIN = """
import os, sys
import torch, torch.distributed as dist, torch.multiprocessing as mp

def fold(step):
    return {"a": 1}["a" if step < 2 else "b"]

def work(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    for step in range(4):
        if rank == 1:
            fold(step)
        dist.all_reduce(torch.ones(1))
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(work, args=(sys.argv[1],), nprocs=2)
"""
SUMMARY = """\
[rank1]: Traceback (most recent call last):
[rank1]:   File "{job}/train.py", line 3, in main
[rank1]:     raise KeyError("sample_17")
[rank1]: KeyError: 'sample_17'
[rank0]: Traceback (most recent call last):
[rank0]:   File "{job}/train.py", line 4, in main
[rank0]:     dist.all_reduce(x)
[rank0]: RuntimeError: [pair.cc:553] Connection closed by peer [127.0.0.1]:4711
W1121 12:57:26.354000 11 torch/elastic/api.py:900] Sending process 12 closing signal SIGTERM
E1121 12:57:26.400000 11 torch/elastic/api.py:874] failed (exitcode: 1) local_rank: 1 (pid: 13)
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-21_12:57:26
  host      : node1
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 13)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "job"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "train.py").write_text(
        'def main():\n    x = load()\n    raise KeyError("sample_17")\n    dist.all_reduce(x)\n'
    )
    return folder


def free_port() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return str(held.getsockname()[1])


def told(report: Any) -> tuple[str, str, tuple[int, ...], tuple[int, ...], str | None]:
    return report.outcome, report.failure_class, report.culprit_ranks, report.victim_ranks, report.location


def doctor(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("ups-doctor"), *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_record_that_only_agents_wrote_gives_culprit_victim_and_line(tmp_path: Path) -> None:
    # As after a supervisor that was killed at once: no job.json, no output.
    (tmp_path / "train.py").write_text(TRAIN)
    record = make_record_folder(tmp_path / "report" / "record")
    subprocess.run(
        [sys.executable, "train.py", free_port()], cwd=tmp_path, capture_output=True, timeout=90, check=False,
        env={**os.environ, **agent_environment(make_record_folder(record / "agents"))},
    )  # fmt: skip
    report = diagnose(tmp_path / "report")
    assert told(report) == ("crash", "python-exception", (1,), (0,), "train.py:6")
    assert report.job_exit_code == 1
    assert [row.role for row in report.ranks] == ["victim", "culprit"]
    assert [entry.what for entry in report.timeline if entry.rank == 1 and "KeyError" in entry.what] == [
        "raised KeyError: 'b'"
    ]
    written = json.loads((tmp_path / "report" / "report.json").read_text())
    assert (written["schema"], written["failure_class"], written["location"]) == (1, "python-exception", "train.py:6")
    assert (tmp_path / "report" / "report.md").read_text().startswith("# Run report\n")
    left = ": how it went on is known from what the ranks wrote only"
    assert f"the doctor was ended before the job{left}" in report.notes
    (record / "job.json").write_text('{"processes"')
    why = "what the doctor wrote cannot be used (Expecting ':' delimiter: line 1 column 13 (char 12))"
    assert why + left in diagnose(tmp_path / "report").notes


def test_the_log_of_torchrun_alone_gives_the_same_at_most_likely(job: Path) -> None:
    log = job / "train.log"
    log.write_text(SUMMARY.format(job=job))
    done = doctor("diagnose", "--log", log, cwd=job)
    assert (done.returncode, done.stdout.splitlines()) == (
        1,
        [
            "ups-doctor: The job crashed: python-exception on rank 1 at train.py:3.",
            "  who    rank 1; rank 0 only suffered",
            '  line   train.py:3:  raise KeyError("sample_17")',
            "  why    Rank 1 raised at train.py:3: KeyError: 'sample_17' (likely, not proven)",
            "  fix    'sample_17' is not among the keys at train.py:3: compare them with what made the mapping",
            "  no report was written; --report-dir DIR keeps one",
        ],
    )


def test_the_verdict_is_said_where_the_report_cannot_be_kept(job: Path) -> None:
    log, taken = job / "train.log", job / "taken"
    log.write_text(SUMMARY.format(job=job))
    taken.write_text("a file")
    done = doctor("diagnose", "--log", log, "--report-dir", taken / "report", cwd=job)
    first, *_, last = done.stdout.splitlines()
    assert (done.returncode, first) == (1, "ups-doctor: The job crashed: python-exception on rank 1 at train.py:3.")
    assert last.startswith(f"  no report was written: cannot write {taken}/report: "), last


@pytest.mark.parametrize(
    "prefix", ["trainer-1  | ", "2026-11-21T12:57:26.354000000Z ", "2026-11-21T12:57:26Z stdout F "]
)
def test_what_containers_put_before_each_line_is_seen_through(job: Path, prefix: str) -> None:
    log = job / "docker.log"
    log.write_text("".join(f"{prefix}{line}\n" for line in SUMMARY.format(job=job).splitlines()))
    assert told(examine_logs([log]))[1:4] == ("python-exception", (1,), (0,))


def test_slurms_labels_and_its_word_about_a_killed_task_are_read(job: Path) -> None:
    log = job / "slurm-17.out"
    log.write_text(
        "".join(f"{task}: epoch {epoch}\n" for epoch in range(3) for task in range(2))
        + "0: Traceback (most recent call last):\n"
        + f'0:   File "{job}/train.py", line 4, in main\n'
        + "0: RuntimeError: [pair.cc:553] Connection closed by peer [10.0.0.2]:4711\n"
        + "srun: error: node2: task 1: Segmentation fault (core dumped)\n"
        + "srun: error: node1: task 0: Exited with exit code 1\n"
    )
    report = examine_logs([log])
    assert (report.culprit_ranks, report.victim_ranks) == ((1,), (0,))
    assert [(row.rank, row.exit_code, row.signal) for row in report.ranks] == [(0, 1, None), (1, None, "SIGSEGV")]


def test_the_parent_of_spawned_ranks_only_carries_their_error(job: Path) -> None:
    log = job / "spawn.log"
    log.write_text(
        "Traceback (most recent call last):\n"
        f'  File "{job}/train.py", line 1, in <module>\n    mp.spawn(main, nprocs=2)\n'
        "torch.multiprocessing.spawn.ProcessRaisedException: \n\n"
        "-- Process 1 terminated with the following error:\n"
        "Traceback (most recent call last):\n"
        f'  File "{job}/train.py", line 3, in main\n    raise KeyError("sample_17")\n'
        "KeyError: 'sample_17'\n"
    )
    assert told(examine_logs([log])) == ("crash", "python-exception", (1,), (), "train.py:3")


def test_a_log_without_a_failure_proves_nothing_and_says_so(job: Path) -> None:
    (job / "ok.log").write_text("epoch 1 loss 0.3\nepoch 2 loss 0.2\ndone\n")
    report = examine_logs([job / "ok.log"])
    assert (report.outcome, report.failure_class, report.confidence) == ("ok", "none", "possible")
    assert report.notes == ("no failure stands in these logs, which does not prove that there was none",)


def test_a_missing_log_and_a_pipe_are_one_sentence(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DoctorError, match="no such file"):
        examine_logs([tmp_path / "none.log"])
    with pytest.raises(UsageError, match="not a regular file"):
        examine_logs([tmp_path / "pipe"])


def test_a_file_that_is_no_text_is_no_log_and_a_log_with_a_hole_of_zeros_is_one(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(bytes(range(256)) * 9)
    with pytest.raises(UsageError, match="is no text, and a log was expected"):
        examine_logs([tmp_path / "model.pt"])
    (tmp_path / "cut.log").write_bytes(b"epoch 1 loss 0.3\n" * 99 + b"\0" * 64)
    assert examine_logs([tmp_path / "cut.log"]).outcome == "ok"
    error = b'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1\n'
    (tmp_path / "fell.log").write_bytes(b"\0" * 4096 + b"\n" + error)
    assert examine_logs([tmp_path / "fell.log"]).failure_class == "python-exception"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[" * 100_000, "job.json: nested too deeply"),
        ('{"processes"', "job.json: Expecting ':' delimiter"),
        ("[1, 2]", "job.json: job.json holds no object"),
    ],
)
def test_a_record_that_is_no_record_is_one_sentence(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "job.json").write_text(content)
    with pytest.raises(DoctorError, match="holds no record of a job") as error:
        examine(tmp_path)
    assert said in error.value.message


def test_wild_values_in_a_record_are_no_news(tmp_path: Path) -> None:
    wild = {
        "command": ["torchrun"], "cwd": "/etc", "started_ns": 10**300, "exit_code": 1, "ended_s": 1e308,
        "processes": [{"pid": -5, "start_ticks": 10**400, "end": {"exit_code": 3}}, 7, {"pid": "x"}, {}],
        "sent": [{"pid": 1}], "stalls": [{"began_s": "late"}], "limits": {"nofile": "many"},
    }  # fmt: skip
    text = json.dumps(wild).replace('"late"', "NaN")
    (tmp_path / "job.json").write_text(text)
    report = examine(tmp_path)
    assert (report.outcome, report.failure_class, report.job_exit_code) == ("crash", "unknown", 1)


def test_no_link_out_of_a_record_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(make_record_folder(outside), tmp_path / "copy")
    (outside / "job.json").write_text('{"command": ["x"], "cwd": "/", "started_ns": 1, "exit_code": 1}')
    record = make_record_folder(tmp_path / "report")
    (record / "job.json").symlink_to(outside / "job.json")
    (record / "output").symlink_to(outside)
    with pytest.raises(DoctorError, match="holds no record of a job"):
        examine(record)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "record").symlink_to(outside)
    with pytest.raises(DoctorError, match="is a link"):
        record_folder(tmp_path / "linked")


def test_a_folder_that_may_not_be_entered_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.is_symlink", refused)
    with pytest.raises(UsageError, match=r"cannot read .*/record: permission denied"):
        examine(tmp_path)


def test_a_folder_that_is_not_there_is_wrong_use(tmp_path: Path) -> None:
    done = doctor("diagnose", "nowhere", cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2,
        "error: cannot read nowhere: no such file or folder",
    )


def test_sixty_four_ranks_take_less_than_two_seconds(tmp_path: Path) -> None:
    processes = [
        {
            "pid": 100 + rank, "start_ticks": 100 + rank, "ppid": 10, "argv": ["python", "train.py"],
            "variables": {"RANK": str(rank), "WORLD_SIZE": "64"}, "first_seen_s": 0.1,
            "end": {"exit_code": 1, "at_s": 9.0 if rank == 7 else 9.5, "source": "pidfd"},
        }
        for rank in range(64)
    ]  # fmt: skip
    job = {"command": ["torchrun", "train.py"], "cwd": str(tmp_path), "started_ns": 1, "exit_code": 1}
    (tmp_path / "job.json").write_text(json.dumps({**job, "processes": processes}))
    output = make_record_folder(tmp_path / "output")
    lost = "RuntimeError: [pair.cc:553] Connection closed by peer [10.0.0.2]:4711\n"
    for rank in range(64):
        error = "ValueError: no such fold\n" if rank == 7 else lost
        text = "a line of a log\n" * 20_000 + 'Traceback (most recent call last):\n  File "train.py", line 3, in f\n'
        (output / f"{100 + rank}-{100 + rank}.stderr.txt").write_text(text + error)
    began = time.monotonic()
    report = diagnose(tmp_path)
    assert (report.culprit_ranks, len(report.victim_ranks)) == ((7,), 63)
    assert time.monotonic() - began < 2.0 * 2  # twice: the machine that tests run on may be busy
