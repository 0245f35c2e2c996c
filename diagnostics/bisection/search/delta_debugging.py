"""Delta debugging: the fewest of many circumstances that a failure needs. Pure.

Source: Zeller and Hildebrandt 2002, "Simplifying and isolating failure-inducing input", algorithm ddmin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from itertools import pairwise
from typing import TypeVar

Item = TypeVar("Item")


class Answer(Enum):
    """What a try says about the failure looked for."""

    FAILS = "fails"  # in the same way
    PASSES = "passes"
    UNCLEAR = "unclear"  # fails in another way, or cannot be run


def minimal_subset(items: Sequence[Item], ask: Callable[[tuple[Item, ...]], Answer]) -> tuple[Item, ...]:
    """Returns a subset of `items`, in their order, that fails and none of whose items can be left out.

    `items` as a whole fails. Nothing at all is tried first, since most failures need little; no subset is asked twice.
    """
    if not items or ask(()) is Answer.FAILS:
        return ()
    known: dict[tuple[int, ...], bool] = {(): False}

    def fails(places: tuple[int, ...]) -> bool:
        if places not in known:
            known[places] = ask(tuple(items[place] for place in places)) is Answer.FAILS
        return known[places]

    kept, parts = tuple(range(len(items))), 2
    while len(kept) > 1:
        smaller = _smaller(kept, min(parts, len(kept)), fails)
        if smaller is not None:
            kept, parts = smaller, 2 if len(smaller) * 2 <= len(kept) else max(parts - 1, 2)
        elif parts >= len(kept):
            break
        else:
            parts = min(parts * 2, len(kept))
    return tuple(items[place] for place in kept)


def _smaller(kept: tuple[int, ...], parts: int, fails: Callable[[tuple[int, ...]], bool]) -> tuple[int, ...] | None:
    """Returns the first of the parts, or of what is left without one of them, that fails."""
    bounds = [len(kept) * number // parts for number in range(parts + 1)]
    chunks = [kept[low:high] for low, high in pairwise(bounds)]
    rests = [tuple(place for place in kept if place not in chunk) for chunk in chunks] if parts > 2 else []
    return next((chosen for chosen in [*chunks, *rests] if fails(chosen)), None)
