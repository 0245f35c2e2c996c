"""A rank whose thread failed at what the others wait for: the failure is named, not their loop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import raised
from stalled import BARRIER, at, hung, rank

from diagnostics.diagnosis.hang import rank_outside_collectives
from diagnostics.dynamic.job.job import ExceptionSource

SAVES = """\
def save(rank, path):
    if rank == 0:
        pool.submit(write, path)
    else:
        wait(path)
def write(path):
    torch.save(everything, path)
def wait(path):
    while not os.path.exists(path):
        time.sleep(0.1)
def train(rank):
    for step in range(9):
        save(rank, step)
        dist.barrier()
train(0)
def log_values():
    send(values)
"""


@pytest.mark.parametrize(("line", "function", "culprit", "first"), [(7, "write", 0, 7), (17, "log_values", 1, 9)])
@pytest.mark.parametrize("how", [ExceptionSource.UNASKED, ExceptionSource.CAUGHT, ExceptionSource.THREAD])
def test_what_a_thread_failed_at_is_told_where_the_function_that_started_it_is_waited_in(
    tmp_path: Path, how: ExceptionSource, line: int, function: str, culprit: int, first: int
) -> None:
    polls = [at(tmp_path, f"train.py:{one}", name) for one, name in ((10, "wait"), (5, "save"), (13, "train"))]
    waits = at(tmp_path, "train.py:14", "train")
    path = (at(tmp_path, f"train.py:{line}", function),)
    error = replace(raised("PicklingError: no", how=how), path=path, user_path=path)
    job = hung(tmp_path, rank(0, *BARRIER, waits, raised=(error,)), rank(1, *polls), files={"train.py": SAVES})
    match = rank_outside_collectives.match(job)
    assert match is not None
    assert (match.culprit_ranks, match.locations[0]) == ((culprit,), f"train.py:{first}")


def test_what_was_raised_in_a_function_that_both_are_in_is_not_what_the_other_waits_for(tmp_path: Path) -> None:
    polls = [at(tmp_path, f"train.py:{one}", name) for one, name in ((10, "wait"), (5, "save"), (13, "train"))]
    path = (at(tmp_path, "train.py:12", "train"),)
    error = replace(raised("ValueError: no", how=ExceptionSource.LOGGED), path=path, user_path=path)
    zero = rank(0, *BARRIER, at(tmp_path, "train.py:14", "train"), raised=(error,))
    match = rank_outside_collectives.match(hung(tmp_path, zero, rank(1, *polls), files={"train.py": SAVES}))
    assert match is not None
    assert (match.culprit_ranks, match.locations[0]) == ((1,), "train.py:9")
