"""One screen of 80 columns: who holds the others up is on top, and no healthy job is said to wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_trace import TRACE
from shown_text import HOSTILE, poisoned, unprintable

from diagnostics.top.recorded import standings_of
from diagnostics.top.screen import frame
from diagnostics.top.standing import Standing, judged

WORLD = (0, 1, 2)


def rank(number: int, reached: int, **fields: Any) -> Standing:
    known = {
        "rank": number, "pid": 100 + number, "step": 40 + reached, "steps_per_s": 12.34, "data_share": 0.25,
        "cpu_share": 0.99, "memory_bytes": 1.5 * (1 << 30), "module": "blocks.1", "call": f"all_reduce #{reached}",
        "group": "0", "members": WORLD, "number": reached,
    }  # fmt: skip
    return Standing(**{**known, **fields})


def test_the_rank_that_others_wait_for_is_on_top_and_they_say_so() -> None:
    ranks = judged([rank(0, 17, inside_s=12.3), rank(1, 17, inside_s=11.0), rank(2, 16)])
    assert frame(ranks, "torchrun train.py", "60 s") == [
        "ups-doctor top: torchrun train.py",
        "3 ranks, 60 s: rank 2 has not come to all_reduce #17; 2 wait since 12.3 s",
        "",
        " rank     step  step/s  data   cpu     mem  where",
        "    2       56    12.3   25%   99%    1.5G  2 wait for it; blocks.1",
        "    0       57    12.3   25%   99%    1.5G  waits 12.3 s for 2 in all_reduce #17",
        "    1       57    12.3   25%   99%    1.5G  waits 11.0 s for 2 in all_reduce #17",
    ]


def test_ranks_that_meet_quickly_hold_up_nobody() -> None:
    ranks = judged([rank(0, 17, inside_s=0.4), rank(1, 16), rank(2, 17)])
    assert [(one.rank, one.holds_up, one.waits_for) for one in ranks] == [(1, 0, ()), (0, 0, ()), (2, 0, ())]
    assert frame(ranks, "x", "60 s")[1] == "3 ranks, 60 s"


def test_nothing_is_said_of_a_rank_whose_calls_are_not_known_or_that_is_in_another_group() -> None:
    unknown = replace(rank(1, 0), group="", members=(), number=-1)
    other = replace(rank(2, 3), members=(2, 3))
    ranks = judged([rank(0, 17, inside_s=60.0), unknown, other])
    assert [one.holds_up for one in ranks] == [0, 0, 0]


def test_a_thousand_ranks_fit_one_screen() -> None:
    ranks = judged([rank(number, 17) for number in range(999)] + [replace(rank(999, 3), step=3)])
    lines = frame(ranks, "x" * 200, "60 s", width=80, height=24)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[4].startswith("  999        3")
    assert lines[-1] == "      and 982 more ranks, which hold up nobody more than these"


def test_colour_is_an_addition_to_what_the_words_say() -> None:
    ranks = judged([rank(0, 17, inside_s=12.3), rank(1, 16), rank(2, 17)])
    coloured = frame(ranks, "x", "60 s", colour=True)
    assert [line.replace("\033[1;31m", "").replace("\033[0m", "") for line in coloured] == frame(ranks, "x", "60 s")
    assert [number for number, line in enumerate(coloured) if "\033" in line] == [4]


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_modules_are_called_the_screen_holds(name: str) -> None:
    lines = frame(judged([poisoned(rank(0, 17, inside_s=5.0), name), rank(1, 16)]), name, name)
    assert [line for line in lines if unprintable(line) or "\n" in line or len(line) > 80] == []


def test_a_recorded_run_stands_as_it_ended() -> None:
    ranks = judged(standings_of(replace(TRACE, lanes=(replace(TRACE.lanes[0], ended_s=8.0), TRACE.lanes[1]))))
    assert frame(ranks, TRACE.command, "recorded, 3.3 s", width=100) == [
        "ups-doctor top: torchrun train.py",
        "2 ranks, recorded, 3.3 s: rank 1 has not come to all_reduce #17; 1 wait since 5.4 s",
        "",
        " rank     step  step/s  data   cpu     mem  where",
        "    1        4     2.0   20%  100%    191M  ended with exit code 1",
        "    0        4     2.0   20%  100%    191M  waits 5.4 s for 1 in all_reduce #17",
    ]
