"""Real jobs on two ranks of which one stands still: for ever, or for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TRAIN = """
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from lease import renew

dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(4, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    renew(step, dist.get_rank(), float(sys.argv[1]))
dist.destroy_process_group()
"""
LEASE = """
import time


def renew(step, rank, seconds):
    if step == 20 and rank == 1:
        time.sleep(seconds)
"""


def test_a_rank_that_never_comes_is_told_from_the_one_that_waits_for_it(watched: Callable[..., Any]) -> None:
    done = watched(
        "torchrun", "--standalone", "--nproc-per-node", "2", "train.py", "3600",
        options=("--stall-timeout", "22"), train_py=TRAIN, lease_py=LEASE,
    )  # fmt: skip
    assert done.verdict == ("hang", "rank-stalled", [1], "lease.py:7")
    assert (done.code, done.report["confidence"]) == (124, "likely")
    assert "train.py:16" in done.report["locations"]  # where the other one waits
    assert done.report["victim_ranks"] == [0]
    assert "it sleeps; rank 0 waited in backward at train.py:16" in done.report["root_cause"]
    assert [(row["who"], row["place"]) for row in done.report["standing"]] == [
        ("rank 0", "train.py:16"), ("rank 1", "lease.py:7"),
    ]  # fmt: skip
    assert "Provisional: The job makes no progress: rank-stalled on rank 1 at lease.py:7." in done.output


def test_a_slow_rank_that_comes_back_is_a_note_and_no_alarm(watched: Callable[..., Any]) -> None:
    done = watched(
        "python", "train.py", "16", ranks=2,
        options=("--stall-timeout", "3600"), train_py=TRAIN, lease_py=LEASE,
    )  # fmt: skip
    assert done.verdict == ("ok", "none", [], None)
    assert (done.code, done.report["findings"], done.report["provisional"]) == (0, [], False)
    assert "the job goes on; the provisional report is withdrawn" in done.output
    assert [note for note in done.report["notes"] if "then it went on" in note]
