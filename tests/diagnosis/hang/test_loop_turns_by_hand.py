"""Stages of a pipeline that count their micro-batches differently in one batch: whose loop it is, and which."""

from __future__ import annotations

from pathlib import Path

import pytest
from deadlocked import call, hung, rank

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.hang import peers_wait_for_each_other
from diagnostics.dynamic.job.job import Job, JobProcess

STAGES = """\
def send(x):
    dist.send(x, 1)
def first(batch):
    parts = batch.split(4)
    for part in parts:
        send(net(part))
    for part in parts:
        dist.recv(grad, 1)
def last(batch):
    count = len(batch) // 4
    for _ in range(count):
        dist.recv(h, 0)
        if rank == 1:
            use(h)
        if len(h) < most:
            continue
    for _ in range(count):
        dist.send(grad, 0)
for batch in loader:
    (first if rank == 0 else last)(batch)
"""


def stage(folder: Path, number: int, *rounds: tuple[int, str, str]) -> JobProcess:
    """Returns a stage with what it exchanged: in each round so many messages, from "line line..."; the last pends."""
    told = [
        (op, [f"{folder}/train.py:{line}" for line in lines.split()])
        for count, op, lines in rounds
        for _ in range(count)
    ]
    made = [
        call(op, -1, *places, sequence=at, root=1 - number, entered_s=0.1 + at / 100, left_s=0.105 + at / 100)
        for at, (op, places) in enumerate(told[:-1])
    ]
    op, places = told[-1]
    return rank(number, *made, call(op, -1, *places, sequence=len(made), root=1 - number, entered_s=2.0))


SENDS, GRADS, TAKES, RETURNS = ("send", "2 6 20"), ("recv", "8 20"), ("recv", "12 20"), ("send", "18 20")


def job(folder: Path, first: tuple[int, ...], last: tuple[int, ...]) -> Job:
    """`first`, `last`: how many messages each stage exchanged in its rounds, there and back in turns."""
    zero = stage(folder, 0, *((n, *(SENDS, GRADS)[at % 2]) for at, n in enumerate(first)))
    one = stage(folder, 1, *((n, *(TAKES, RETURNS)[at % 2]) for at, n in enumerate(last)))
    return hung(folder, zero, one, source=STAGES)


@pytest.mark.parametrize(
    ("first", "last", "culprit", "lines"),
    [
        ((4, 4, 4, 4, 4, 4, 4), (4, 4, 4, 4, 4, 4, 3, 1), 1, ("train.py:11", "train.py:10")),
        ((4, 4, 4, 4, 4, 4, 3, 1), (4, 4, 4, 4, 4, 4, 4), 0, ("train.py:5", "train.py:4")),
        ((4, 4, 4, 4, 4, 4, 5), (4, 4, 4, 4, 4, 4, 4, 1), 0, ("train.py:5", "train.py:4")),
    ],
    ids=["the last stage takes one less", "the first sends one less", "the first sends one more"],
)
def test_the_stage_whose_round_is_unlike_all_before_is_named_with_its_loop(
    tmp_path: Path, first: tuple[int, ...], last: tuple[int, ...], culprit: int, lines: tuple[str, ...]
) -> None:
    found = peers_wait_for_each_other.match(job(tmp_path, first, last))
    assert found is not None
    assert (found.culprit_ranks, found.victim_ranks) == ((culprit,), (1 - culprit,))
    assert [line for line in found.locations if line in lines] == list(lines)
    assert found.locations[0] in (lines[0], "train.py:15")  # the loop, or the turn of it that may be skipped
    assert found.finding.confidence is Confidence.LIKELY


def test_rounds_that_were_never_alike_name_no_loop_of_their_own(tmp_path: Path) -> None:
    found = peers_wait_for_each_other.match(job(tmp_path, (4, 4, 3, 3, 5, 5, 4), (4, 4, 3, 3, 5, 5, 3, 1)))
    assert found is not None
    assert found.culprit_ranks == (0, 1)
