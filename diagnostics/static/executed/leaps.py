"""A rank leaves a loop, or a round of it, by a number of its own, and others meet in that loop. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.executed.own_data import OwnData
from diagnostics.static.executed.training import is_distributed, meets
from diagnostics.static.execution.events import Event, Execution, Guard, OpenLoop
from diagnostics.static.execution.values import Made

_LEAPS = ("break", "return", "continue")


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


def _left(leap: Event) -> OpenLoop | None:
    """Returns the loop that is left, or whose round is."""
    own = [loop for loop in leap.loops if loop.function is leap.function]
    if leap.name == "return":
        return own[0] if own else None
    return own[-1] if own else None
