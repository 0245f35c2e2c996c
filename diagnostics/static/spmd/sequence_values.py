"""What a rank passes on one way through a function, to be compared, and how two of them are put together. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from diagnostics.static.spmd.collective_sites import CollectiveSite

FALL, RETURN, RAISE, BREAK, CONTINUE, EXIT = "fall", "return", "raise", "break", "continue", "exit"

Item = tuple[object, ...]


@dataclass
class CollectiveSequence:
    """What a rank passes: `items` to be compared, `met` the operations in their order, how the function is left."""

    items: tuple[Item, ...] = ()
    met: list[CollectiveSite] = field(default_factory=list)
    end: str = FALL


def joined(first: CollectiveSequence, second: CollectiveSequence) -> CollectiveSequence:
    """Returns one sequence and then the other."""
    return CollectiveSequence(first.items + second.items, first.met + second.met, second.end)


def either(one: CollectiveSequence, other: CollectiveSequence) -> CollectiveSequence:
    """Returns the way of a branch that is open: an arm that raises is not taken."""
    if one.end == RAISE and not one.items:
        return other
    if other.end == RAISE and not other.items:
        return one
    if one.items == other.items and one.end == other.end:
        return one
    end = one.end if one.end == other.end else FALL
    return CollectiveSequence((("either", one.items, one.end, other.items, other.end),), one.met + other.met, end)


def leaves_in_one_arm(way: CollectiveSequence) -> bool:
    """Whether a branch that is open ends with ranks that met and returned, while the others go on."""
    last = way.items[-1] if way.items else ()
    if way.end != FALL or last[:1] != ("either",):
        return False
    arms = ((last[1], last[2]), (last[3], last[4]))
    return {end for _, end in arms} == {RETURN, FALL} and any(end == RETURN and items for items, end in arms)


def with_rest(way: CollectiveSequence, rest: CollectiveSequence) -> CollectiveSequence:
    """Returns such a branch with what comes behind it: that is passed in the arm that goes on, and there alone."""
    _, one, one_end, other, other_end = cast("tuple[str, tuple[Item, ...], str, tuple[Item, ...], str]", way.items[-1])
    arms = [
        CollectiveSequence(items, [], end) if end == RETURN else CollectiveSequence(items + rest.items, [], rest.end)
        for items, end in ((one, one_end), (other, other_end))
    ]
    whole = either(*arms)
    return CollectiveSequence(way.items[:-1] + whole.items, way.met + rest.met, whole.end)


def ways_differ(one: CollectiveSequence, other: CollectiveSequence) -> bool:
    """Whether two ranks that go these ways do not meet; one that raises ends the job and waits for nobody."""
    if RAISE in (one.end, other.end) or not (one.met or other.met):
        return False
    return stripped(one.items) != stripped(other.items)


def comes_to_the_same(one: CollectiveSequence, other: CollectiveSequence, whole: list[CollectiveSequence]) -> bool:
    """Whether a branch that leaves ends with what the others come to at last: `shutdown(); barrier(); return`."""
    for leaving, staying in ((one, whole[1]), (other, whole[0])):
        last = stripped(leaving.items)
        if last and leaving.end in (RETURN, EXIT) and one.end != other.end:
            return stripped(staying.items)[-len(last) :] == last
    return False


def stripped(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Returns the items up to the last in which ranks meet: how a way ends after that changes nothing."""
    last = max((at for at, item in enumerate(items) if meets(item)), default=-1)
    return items[: last + 1]


def meets(item: Item) -> bool:
    """Whether ranks meet in an item."""
    if item[0] not in ("loop", "either"):
        return True
    return any(meets(inner) for part in item[1:] if isinstance(part, tuple) for inner in part)
