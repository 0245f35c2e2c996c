from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnostics.bisection.search.delta_debugging import Answer, minimal_subset

COUNTS = st.integers(0, 16)


@settings(deadline=None)
@given(COUNTS, st.sets(st.integers(0, 15), max_size=4))
def test_exactly_what_is_needed_is_left_in_its_order(count: int, wanted: set[int]) -> None:
    needed = {one for one in wanted if one < count}
    asked: list[tuple[int, ...]] = []

    def ask(kept: tuple[int, ...]) -> Answer:
        asked.append(kept)
        return Answer.FAILS if needed <= set(kept) else Answer.PASSES

    assert minimal_subset(range(count), ask) == tuple(sorted(needed))
    assert len(asked) == len(set(asked))


@settings(deadline=None)
@given(st.integers(1, 10), st.sets(st.integers(0, 9), min_size=1), st.integers(0, 2**30))
def test_whatever_the_answers_are_no_single_item_can_be_left_out(count: int, some: set[int], seed: int) -> None:
    items = tuple(range(count))
    truth = {items: Answer.FAILS}

    def ask(kept: tuple[int, ...]) -> Answer:
        drawn = [Answer.FAILS, Answer.PASSES, Answer.UNCLEAR][hash((kept, seed)) % 3]
        return truth.setdefault(kept, drawn)

    left = minimal_subset(items, ask)
    assert ask(left) is Answer.FAILS
    assert left == () or all(ask(tuple(one for one in left if one != out)) is not Answer.FAILS for out in left)


def test_where_nothing_is_needed_one_question_is_enough() -> None:
    asked = []
    assert minimal_subset("abcdef", lambda kept: asked.append(kept) or Answer.FAILS) == ()
    assert asked == [()]


def test_one_of_many_takes_about_twice_the_logarithm_of_questions() -> None:
    asked = []

    def ask(kept: tuple[int, ...]) -> Answer:
        asked.append(kept)
        return Answer.FAILS if 37 in kept else Answer.PASSES

    assert minimal_subset(range(64), ask) == (37,)
    assert len(asked) <= 2 * math.log2(64) + 2
