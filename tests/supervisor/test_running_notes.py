"""A job that trains on the wrong data is told so while it runs, and again where it is ended by Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from ranks import as_ranks

PROGRAM = """\
import time, torch, torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
songs = TensorDataset(torch.randn(64, 6), torch.randn(64, 1))
loader = DataLoader(songs, 4, shuffle=True)
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
until = time.monotonic() + 60  # should nobody end it
while time.monotonic() < until:
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
TITLE = (
    "Ranks 0, 1 train on the same samples in the same order: the loader of train.py:7 has a RandomSampler and no "
    "DistributedSampler; the process group did not exist yet when it was built"
)


def test_it_is_said_once_while_the_job_runs_and_is_the_verdict_after_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    doctor = [str(Path(sys.executable).with_name("ups-doctor")), "run", "--report-dir", "report", "--"]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "train.py"]
    with subprocess.Popen([*doctor, *launcher], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as job:
        assert job.stderr is not None
        said = next(line for line in job.stderr if line.startswith("ups-doctor: "))
        job.send_signal(signal.SIGINT)
        rest = job.stderr.read()
        code = job.wait()
    assert said == f"ups-doctor: the job goes on, but trains wrongly. {TITLE}.\n"
    assert "the job goes on" not in rest
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert (code, report["outcome"], report["failure_class"], report["location"], report["root_cause"]) == (
        130, "silent-wrong", "duplicate-data", "train.py:7", TITLE,
    )  # fmt: skip


def test_a_job_that_is_sure_to_be_wrong_is_ended_where_the_user_wants_that(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    doctor = [str(Path(sys.executable).with_name("ups-doctor")), "run", "--report-dir", "report"]
    ended = subprocess.run(
        [*doctor, "--abort-on", "slow,silent-wrong", "--", sys.executable, "train.py"],
        cwd=tmp_path, env={**os.environ, **as_ranks(2, "train.py")}, stderr=subprocess.PIPE, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    said = [line for line in ended.stderr.splitlines() if line.startswith("ups-doctor: the job")]
    assert said == [f"ups-doctor: the job is ended, as --abort-on wants: it trains wrongly. {TITLE}."]
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert (ended.returncode, report["outcome"], report["location"], report["exit_code_reason"]) == (
        70, "silent-wrong", "train.py:7", "--abort-on: the doctor ended the job, its result is silent-wrong",
    )  # fmt: skip
    assert [note.partition(":")[0] for note in report["notes"]] == ["the doctor ended the job, as --abort-on wants"]


def test_an_outcome_that_no_running_job_has_is_refused() -> None:
    doctor = [str(Path(sys.executable).with_name("ups-doctor")), "run"]
    refused = subprocess.run([*doctor, "--abort-on", "slo", "--", "true"], capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout, refused.stderr.splitlines()) == (
        2, "",
        [
            "error: --abort-on 'slo' is no outcome of a job that runs; did you mean 'slow'?",
            "  known: silent-wrong, slow",
        ],
    )  # fmt: skip
