"""What is said on the terminal of a job that runs on and trains wrongly: at once, once, and not at its end."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import jobs
import pytest

# Two ranks, forked from a process that imported torch for both; they train until somebody has read the note.
TRAIN = """
    import os, sys, time
    import torch
    import torch.distributed as dist
    from torch import nn

    pids = []
    for rank in range(2):
        pid = os.fork()
        if not pid:
            break
        pids.append(pid)
    else:
        sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids))
    os.environ.update(RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo", init_method="file://" + os.path.abspath("store"), rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    more = torch.zeros(1)
    while more == 0:
        loss = model.module(torch.randn(8, 4) + rank).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.01)
        more = torch.full((1,), float(os.path.exists("told")))
        dist.all_reduce(more)
    dist.destroy_process_group()
"""


@pytest.mark.parametrize("fault", [True, False])
def test_ranks_that_drift_are_told_while_the_job_runs_and_replicas_are_not(tmp_path: Path, fault: bool) -> None:
    text = textwrap.dedent(TRAIN)
    (tmp_path / "train.py").write_text(text if fault else text.replace("model.module(", "model("))
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "loss = " in row)
    with jobs.start(tmp_path, sys.executable, "train.py", stderr=subprocess.PIPE) as doctor:
        assert doctor.stderr is not None
        try:
            if fault:
                notes = [next(row for row in doctor.stderr if b"trains wrongly" in row)]
            else:
                jobs.until(lambda: _looks(tmp_path) >= 6, deadline_s=jobs.DEADLINE_S)
                notes = []
        finally:
            (tmp_path / "told").touch()
            notes += [row for row in doctor.stderr if b"trains wrongly" in row]
    assert [note.decode() for note in notes] == [
        "ups-doctor: the job goes on, but trains wrongly. The models of ranks 0, 1 drift apart: weight and 1 more "
        f"parameter differ from step 2 on, since Linear is called at train.py:{line} without the "
        "DistributedDataParallel around it.\n"
    ] * fault
    report = jobs.report(tmp_path)
    wanted = ("silent-wrong", f"train.py:{line}") if fault else ("ok", None)
    assert (doctor.returncode, report["outcome"], report["location"]) == (0, *wanted)


def _looks(tmp_path: Path) -> int:
    """Returns how often every rank was looked at."""
    texts = [path.read_text() for path in tmp_path.glob("report/record/agents/prints-*.jsonl")]
    return min((text.count('"what":"step"') for text in texts), default=0)
