"""A rank that left a call out and went on for a while before its peers missed it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deadlocked import call, done, hung, rank

from diagnostics.diagnosis.hang import peers_wait_for_each_other
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.agent_data import CollectiveCall

TIED = """\
for step in range(9):
    if first:
        dist.send(h, peer)
    else:
        dist.recv(h, peer)
    if word.grad is not None:
        dist.all_reduce(word.grad)
    dist.all_reduce(grad, group=replicas)
"""


def stage(folder: Path, number: int, *lines: int) -> JobProcess:
    """Returns a stage that came to these lines one after the other, and waits in the last."""
    made: list[CollectiveCall] = []
    for at, line in enumerate(lines):
        op = {3: "send", 5: "recv"}.get(line, "all_reduce")
        last = at == len(lines) - 1
        one = (call if last else done)(op, at, f"{folder}/train.py:{line}", root=1 - number if line < 6 else None)
        pairs = {"number": -1 if line < 6 else at, "group": str(1 + number) if line == 8 else "0"}
        made.append(replace(one, **pairs))
    return rank(number, *made)


def job(folder: Path, *first: int) -> Job:
    peer = stage(folder, 1, 5, 7, 8, 5, 7, 8, 5, 7, 8, 5, 7)
    return hung(folder, stage(folder, 0, *first), peer, source=TIED)


def test_what_it_left_out_is_named_and_not_where_it_waits_since(tmp_path: Path) -> None:
    found = peers_wait_for_each_other.match(job(tmp_path, 3, 7, 8, 3, 7, 8, 3, 7, 8, 3, 8, 3))
    assert found is not None
    assert (found.culprit_ranks, found.victim_ranks, found.locations[0]) == ((0,), (1,), "train.py:6")


def test_a_call_that_was_left_out_before_as_well_is_no_break(tmp_path: Path) -> None:
    found = peers_wait_for_each_other.match(job(tmp_path, 3, 7, 8, 3, 8, 3, 7, 8, 3, 8, 3))
    assert found is not None
    assert found.locations[0] != "train.py:6"
