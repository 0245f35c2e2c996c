"""Ranks that are late in a part of the steps only, put together by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import made_steps
import pytest

from diagnostics.diagnosis.slow import rank_late
from diagnostics.dynamic.steps.view import step_view

PLAIN = {"data": 0.002, "forward": 0.01, "backward": 0.025, "optimizer": 0.002, "other": 0.002}
EXTRA_S = 0.08
QUIET = {0: 0.0, 1: 0.0}


def ranks(is_late: Callable[[int, int], bool], **fields: Any) -> list[Any]:
    """Two ranks of which one takes longer in the steps of which `is_late(rank, step)` says so, and the other waits."""
    found = []
    for rank in (0, 1):
        steps, end_s = [], 1.0
        for number in range(1, made_steps.STEPS + 1):
            late, waits = is_late(rank, number), is_late(1 - rank, number)
            phases = {**PLAIN, "other": PLAIN["other"] + EXTRA_S * late}
            if waits and not late:
                phases["backward"] += EXTRA_S
            end_s += sum(phases.values())
            steps.append(made_steps.step(number, end_s, phases, waits=EXTRA_S * (waits and not late), **fields))
        one = made_steps.rank(rank, PLAIN)
        timings = replace(one.agent.timings, steps=tuple(steps))
        found.append(replace(one, agent=replace(one.agent, timings=timings)))
    return found


@pytest.mark.parametrize(("every", "often", "cost"), [(2, 50, 49), (3, 33, 39)])
def test_a_rank_that_is_late_in_every_second_or_third_step_is_told_with_its_share_of_the_time(
    every: int, often: int, cost: int
) -> None:
    match = rank_late.match(made_steps.job(*ranks(lambda rank, step: rank == 1 and step % every == 0), delays=QUIET))
    assert match is not None
    assert match.culprit_ranks == (1,)
    assert match.finding.title.startswith(
        f"Rank 0 waits for rank 1 in {often} % of the steps, 80.0 ms then, {cost} % of the time: it computes something "
        "beside the model"
    )


@pytest.mark.parametrize(
    "is_late",
    [
        pytest.param(lambda rank, step: rank == 0 and step % 10 == 0, id="it logs every tenth step"),
        pytest.param(lambda rank, step: step % 2 == rank, id="they take turns"),
        pytest.param(lambda rank, step: step % 3 == rank, id="each is late in every third step"),
        pytest.param(lambda rank, step: rank == 1 and 20 < step < 60, id="for a while only"),
        pytest.param(lambda rank, step: False, id="never"),
    ],
)
def test_what_happens_now_and_then_or_to_each_rank_makes_no_straggler(is_late: Callable[[int, int], bool]) -> None:
    job = made_steps.job(*ranks(is_late), delays=QUIET)
    assert rank_late.match(job) is None


def test_a_neighbour_that_takes_the_cpu_in_every_second_step_is_no_rank_s_doing() -> None:
    late = ranks(lambda rank, step: rank == 1 and step % 2 == 0, cpu_s=sum(PLAIN.values()))
    crowded = made_steps.job(*late, delays={0: 0.0, 1: 0.5}, others=0.7)
    assert step_view(crowded).late is not None
    assert rank_late.match(crowded) is None
