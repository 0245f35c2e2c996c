"""The last call that two ranks made alike: of one kind, on one path; else where both wrapped their model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import hand_made as made
from deadlocked import call, done, hung, rank

from diagnostics.dynamic.collectives.rank_state_builder import positions_of
from diagnostics.dynamic.divergence.last_common_call import last_common_call
from diagnostics.dynamic.job.job import JobProcess
from diagnostics.record.agent_data import CollectiveCall

WRAPPED = made.event("ddp", "", "train.py:2")


def last(folder: Path, mine: list[CollectiveCall], theirs: list[CollectiveCall], *, wrapped: bool) -> list[int] | None:
    """Returns the lines of the last common call of ranks 0 and 1, innermost first."""
    ranks = [_told(rank(0, *mine), wrapped=wrapped), _told(rank(1, *theirs), wrapped=wrapped)]
    job = hung(folder, *ranks, source="x()\n" * 9)
    one, other = positions_of(job, 4.0)
    found, _ = last_common_call(job, one, other)
    return None if found is None else [frame.line for frame in found.path]


def _told(process: JobProcess, *, wrapped: bool) -> JobProcess:
    assert process.agent is not None
    return replace(process, agent=replace(process.agent, events=(WRAPPED,) if wrapped else ()))


HELPER = done("barrier", 0, "train.py:4", "train.py:7")
BEHIND = done("barrier", 0, "train.py:4", "train.py:8")
ENDS = [call("barrier", 1, "train.py:5", "train.py:7")], [call("all_reduce", 1, "train.py:9")]


def test_calls_of_one_kind_that_met_from_two_places_are_not_made_alike(tmp_path: Path) -> None:
    assert last(tmp_path, [HELPER, *ENDS[0]], [BEHIND, *ENDS[1]], wrapped=True) == [2]


def test_calls_of_one_kind_on_one_path_are_made_alike(tmp_path: Path) -> None:
    assert last(tmp_path, [BEHIND, *ENDS[0]], [BEHIND, *ENDS[1]], wrapped=True) == [4, 8]


def test_where_nothing_else_is_known_the_last_calls_of_one_kind_are_told(tmp_path: Path) -> None:
    assert last(tmp_path, [HELPER, *ENDS[0]], [BEHIND, *ENDS[1]], wrapped=False) == [4, 7]
