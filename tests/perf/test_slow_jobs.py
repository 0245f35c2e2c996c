"""What is looked at from outside while a job trains, and a job that is called slow: real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from diagnostics.machine.processes.pidfds import read_start
from diagnostics.machine.processes.usage import machine_usage, process_usage
from diagnostics.record.step_stacks import step_stacks_of
from diagnostics.record.usage import ProcessUsage, usage_of
from diagnostics.supervisor.capture.step_stacks import StepStacks
from diagnostics.supervisor.capture.usage import MOST_LOOKS, UsageLooks

WAITS = """
import sys, time
def wait_for_the_server():
    time.sleep(60)
print("here", flush=True)
wait_for_the_server()
"""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    (tmp_path / "captures").mkdir()
    return tmp_path


def own() -> dict[int, int]:
    start = read_start(os.getpid())
    assert start is not None
    return {os.getpid(): start}


def test_what_a_process_and_the_machine_use_is_read_and_only_grows() -> None:
    first, machine = process_usage(os.getpid()), machine_usage()
    assert first is not None
    assert {first[0]} == set(own().values())
    sum(range(3_000_000))
    last = process_usage(os.getpid())
    assert last is not None
    before, after = ProcessUsage(0.0, *first[1]), ProcessUsage(0.0, *last[1])
    assert after.cpu_s > before.cpu_s
    assert after.delayed_s >= before.delayed_s
    assert before.private_bytes > 1 << 20
    assert machine_usage()[0] >= machine[0] > 0
    assert process_usage(1 << 22) is None


def test_looks_at_a_long_job_span_all_of_it_and_stay_few(record: Path) -> None:
    looks, at_s, asked = UsageLooks(record), 0.0, 0
    while at_s < 1000.0:
        if looks.is_due(at_s):
            looks.look(at_s, own())
            asked += 1
        at_s += 0.5
    looks.write()

    usage = usage_of((record / "captures" / "usage.jsonl").read_text())

    assert asked > MOST_LOOKS >= len(usage.machine) > MOST_LOOKS / 3
    assert (usage.machine[0].at_s, usage.machine[-1].at_s > 990.0) == (0.0, True)
    (name,) = usage.processes
    assert name == f"{os.getpid()}-{read_start(os.getpid())}"


def test_a_suspected_process_is_looked_at_where_it_stands_once(record: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            child.stdout.readline()
            start = read_start(child.pid)
            assert start is not None
            stacks = StepStacks(record)
            stacks.look({child.pid: start, 1 << 22: 7})
            file = record / "captures" / "step-stacks.json"
            told = file.read_text()
            file.unlink()
            stacks.look({child.pid: start})
            assert not file.exists()
        finally:
            child.kill()
    (found,) = step_stacks_of(told).values()
    assert [frame.function for frame in found[0].frames[:1]] == ["wait_for_the_server"]


STARVED = """
import time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)

class Slides(Dataset):
    def __len__(self):
        return 480

    def __getitems__(self, indices):
        time.sleep(0.1)
        return [torch.ones(8) for index in indices]

loader = DataLoader(Slides(), batch_size=8)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for slides in loader:
    model(slides).sum().backward()
    time.sleep(0.01)  # a device that computes
    optimizer.step()
    optimizer.zero_grad()
"""


def test_a_job_that_waits_for_its_data_is_called_slow_with_the_line_of_its_loader(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(STARVED)
    doctor = [str(Path(sys.executable).with_name("ups-doctor")), "run", "--strict", "--report-dir", "report", "--"]
    done = subprocess.run(
        [*doctor, sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False
    )
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    assert (done.returncode, report["job_exit_code"], report["outcome"], report["failure_class"]) == (
        70, 0, "slow", "data-starved",
    )  # fmt: skip
    line = 1 + STARVED.splitlines().index("loader = DataLoader(Slides(), batch_size=8)")
    assert report["location"] == f"train.py:{line}"
    assert report["fix"].startswith("num_workers=")
    assert "ups-doctor: The job is slow: data-starved" in done.stderr
