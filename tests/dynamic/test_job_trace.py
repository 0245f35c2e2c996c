"""What each rank did when, on the clock of the job; many ranks that behaved alike have one lane."""

from __future__ import annotations

from typing import Any

import hand_made as made
import made_steps as steps

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import JobProcess
from diagnostics.dynamic.trace.behaviour import MOST_LANES
from diagnostics.dynamic.trace.trace_builder import trace_of
from diagnostics.record.agent_data import CollectiveCall, GroupProgress

WORLD = tuple(range(1000))
LINE = (Frame(file="/job/train.py", line=31, function="step"),)


def call(number: int, *, left: bool, op: str = "all_reduce", **fields: Any) -> CollectiveCall:
    known = {
        "sequence": number, "number": number, "op": op, "group": "0", "shape": "8", "dtype": "float32", "root": None,
        "path": LINE, "entered_s": float(number), "left_s": number + 0.5 if left else None,
    }  # fmt: skip
    return CollectiveCall(**{**known, **fields})


def rank(number: int, *calls: CollectiveCall, world: tuple[int, ...] = WORLD, **fields: Any) -> JobProcess:
    group = GroupProgress(group="0", ranks=world, calls=len(calls), rolling_hash=0)
    agent = made.agent(pid=100 + number, started_ns=2_000_000_000, collectives=calls, groups=(group,))
    return made.a_process(100 + number, rank=number, agent=agent, began_s=1.0, **fields)


def test_times_are_those_of_the_job_and_a_call_names_the_user_s_line() -> None:
    job = made.a_job(rank(0, call(0, left=True), call(1, left=False), world=(0, 1)))
    (lane,) = trace_of(job).lanes
    assert [(one.shown, one.began_s, one.ended_s, one.stack, one.matched) for one in lane.calls] == [
        ("all_reduce #0", 2.0, 2.5, ("train.py:31 step",), True),
        ("all_reduce #1", 3.0, None, ("train.py:31 step",), True),
    ]


def test_a_step_has_its_phases_and_the_memory_its_looks() -> None:
    job = steps.job(steps.rank(0, {"data": 0.1, "forward": 0.3}, count=2), delays={}, grows={0: 1e6})
    (lane,) = trace_of(job).lanes
    assert [(one.number, one.began_s, one.ended_s, one.phases) for one in lane.steps] == [
        (1, 1.0, 1.4, (("data", 0.1), ("forward", 0.3))),
        (2, 1.4, 1.8, (("data", 0.1), ("forward", 0.3))),
    ]
    assert [(one.at_s, one.memory_bytes) for one in lane.usage[:2]] == [(0.0, 104857600.0), (0.5, 105357600.0)]


def test_a_rank_that_never_came_is_marked_and_one_that_came_or_is_not_in_the_group_is_not() -> None:
    came = rank(0, call(0, left=True), call(1, left=False), world=(0, 1))
    missed = rank(1, call(0, left=True), world=(0, 1))
    outside = rank(2, call(0, left=True), world=(2, 3))
    lanes = trace_of(made.a_job(came, missed, outside)).lanes
    assert [[one.text for one in lane.moments if one.kind == "missed"] for lane in lanes] == [
        [],
        ["never came to all_reduce #1 of group 0, in which others wait"],
        [],
    ]


def test_a_thousand_ranks_have_two_lanes_and_the_odd_one_is_on_top() -> None:
    loop = (call(0, left=True), call(1, left=False))
    ranks = [rank(number, *(loop[:1] if number == 700 else loop)) for number in WORLD]
    trace = trace_of(made.a_job(*ranks))
    assert [(lane.rank, len(lane.same)) for lane in trace.lanes] == [(700, 1), (0, 999)]
    assert trace.ranks == 1000


def test_ranks_that_all_differ_are_folded_by_less_and_none_is_lost() -> None:
    ranks = [rank(number, call(number, left=False)) for number in range(200)]
    trace = trace_of(made.a_job(*ranks))
    assert len(trace.lanes) <= MOST_LANES
    assert sorted(rank for lane in trace.lanes for rank in lane.same) == list(range(200))
    assert len(trace_of(made.a_job(*ranks), folded=False).lanes) == 200


def test_texts_are_one_line_without_secrets_and_not_longer_than_one_reads() -> None:
    raised = (made.raised("ValueError: --token abcdefgh12345678 \x1b[31m\n" + "x" * 9999),)
    (lane,) = trace_of(made.a_job(rank(0, code=1, raised=raised))).lanes
    (text,) = (one.text for one in lane.moments if one.kind == "exception")
    assert "abcdefgh12345678" not in text
    assert text.isprintable()
    assert len(text) < 500
