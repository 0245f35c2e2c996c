"""A rank leaves a loop, or a round of it, by a number of its own, and others meet in that loop. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.executed.one_rank import ALL_RANKS, of_rank
from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.training import is_distributed, meets, operation
from diagnostics.static.execution.events import Event, Execution, Guard, OpenLoop
from diagnostics.static.execution.values import Const, Made, OneOf, Value, is_flag, sources

_LEAPS = ("break", "return", "continue")
_COMPARES = frozenset([">", ">=", "<", "<=", "==", "!="])
_ASKS = frozenset(["not", "and", "or", "bool"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLeap:
    """`leap` under `guard`, whose test is computed from `samples`; `met` is what the others go on to."""

    leap: Event
    guard: Guard
    samples: Made
    met: Event


def own_leaps(execution: Execution) -> Iterator[OwnLeap]:
    """Yields each leap that a rank takes by itself."""
    leaps = [(at, one) for at, one in enumerate(execution.events) if one.name in _LEAPS and not one.is_handled]
    if not leaps or not is_distributed(execution):
        return
    own = OwnData(execution)
    for at, leap in leaps:
        guard = leap.guards[-1]
        samples = own.of(guard.test)
        loop = _left(leap)
        if (
            samples is None
            or loop is None
            or (leap.frames and leap.name == "return" and loop.function is not leap.function)
        ):
            continue
        inside = [
            one for place, one in enumerate(execution.events)
            if meets(one) and any(each is loop for each in one.loops) and (leap.name != "continue" or place > at)
        ]  # fmt: skip
        if inside:
            yield OwnLeap(leap=leap, guard=guard, samples=samples, met=inside[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagLeap:
    """`leap` under `guard`, which asks a flag that `test` lets some ranks alone set; `met` is where the others wait."""

    leap: Event
    guard: Guard
    test: Value
    met: Event


def leaps_by_flag_of_one(execution: Execution) -> Iterator[FlagLeap]:
    """Yields each leap out of a loop by a flag that some ranks set and no rank tells the others."""
    if not is_distributed(execution):
        return
    told: list[Event] | None = None
    seen: set[int] = set()
    for leap in execution.events:
        loop = _left(leap) if leap.name in _LEAPS and not leap.is_handled and leap.guards else None
        if loop is None or (leap.frames and leap.name == "return" and loop.function is not leap.function):
            continue
        flag, test = next(_flags(leap.guards[-1].test), (None, None))
        if flag is None or test is None or id(test) in seen or any(_is_of_some(one.test) for one in leap.guards):
            continue
        told = told if told is not None else [one for one in execution.events if operation(one)]
        met = next((one for one in execution.events if meets(one) and any(each is loop for each in one.loops)), None)
        if met is not None and not any(_hands(one, flag) for one in told):
            seen.add(id(test))
            yield FlagLeap(leap=leap, guard=leap.guards[-1], test=test, met=met)


def _flags(test: Value) -> Iterator[tuple[OneOf, Value]]:
    """Yields the flags and counters that a test asks, each with the test of the rank under which it is set."""
    if isinstance(test, Made) and test.name in _ASKS:
        for one in test.args:
            yield from _flags(one)
    elif isinstance(test, Made) and test.name in _COMPARES and any(isinstance(one, Const) for one in test.args):
        held = [one for one in test.args if isinstance(one, OneOf) and any(isinstance(it, Const) for it in one.options)]
        yield from ((flag, one) for flag in held for one in flag.tests if _is_of_some(one))
    elif isinstance(test, OneOf) and any(is_flag(one) for one in test.options):
        yield from ((test, one) for one in test.tests if _is_of_some(one))


def _is_of_some(test: Value) -> bool:
    """Whether a test has one outcome for some ranks, and another one, or none that is known, for the others."""
    outcomes = {None if one is None else bool(one.value) for one in (of_rank(test, rank) for rank in ALL_RANKS)}
    return len(outcomes) > 1


def _hands(event: Event, flag: OneOf) -> bool:
    """Whether an operation gets the flag, or what is made of it."""
    return any(one is flag for given in (*event.args, *event.keywords.values()) for one in sources(given))


def _left(leap: Event) -> OpenLoop | None:
    """Returns the loop that is left, or whose round is."""
    own = [loop for loop in leap.loops if loop.function is leap.function]
    if leap.name == "return":
        return own[0] if own else None
    return own[-1] if own else None
