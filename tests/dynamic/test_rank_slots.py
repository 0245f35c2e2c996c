from __future__ import annotations

import itertools
import random

import pytest

from diagnostics.dynamic.job.rank_inference import _Slots


@pytest.mark.parametrize("seed", range(200))
def test_the_lowest_number_that_is_free_is_found_as_by_trying_each(seed: int) -> None:
    rng = random.Random(seed)
    slots, until, now = _Slots(), {}, 0.0
    for _ in range(20):
        now += rng.choice((0.0, 0.3, 1.0))
        told = rng.choice((None, None, None, rng.randrange(6)))
        tried = next(slot for slot in itertools.count() if until.get(slot, -1.0) <= now)
        slot = tried if told is None else told
        assert told is not None or slots.lowest_free(now) == slot
        until[slot] = rng.choice((now + rng.random() * 3, now - 1, float("inf")))
        slots.take(slot, until[slot])


def test_a_time_before_all_times_finds_a_number_too() -> None:
    assert _Slots().lowest_free(-1e308) == 0
