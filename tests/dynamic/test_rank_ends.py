"""Which rank began it: one that only lost its peer is no culprit, however its process ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnostics.dynamic.job.rank_ends import RankOutcome, culprits

LOST = """RuntimeError: [pair.cc:553] Connection closed by peer [127.0.0.1]:41313
terminate called without an active exception
"""
DEAD = RankOutcome(
    rank=1, signal=11, returncode=-11, timed_out=False, ended=False, seconds=1.0, stderr="", agent=None, fault=None
)
VICTIM = replace(DEAD, rank=0, signal=None, returncode=1, stderr=LOST)


@pytest.mark.parametrize("end", [{}, {"signal": 6, "returncode": -6}], ids=["exit code 1", "aborted while it left"])
def test_a_rank_that_lost_its_peer_is_a_victim(end: dict[str, int]) -> None:
    assert culprits([replace(VICTIM, **end), DEAD]) == [DEAD]


@pytest.mark.parametrize("number", [6, 11])
def test_a_rank_that_died_by_itself_is_named_beside_the_other(number: int) -> None:
    other = replace(VICTIM, signal=number, returncode=-number, stderr="free(): invalid pointer\n")
    assert culprits([other, DEAD]) == [other, DEAD]
