"""The order in which a project runs its calls, as far as its source says: one trace for each start. Pure.

Calls stand in the order of evaluation, the project's own functions entered where it is known which one is meant. Both
arms of a branch are in the trace; that two events exclude each other is told by `Trace.order`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from diagnostics.static.ordering.entry_points import EntryPoint
from diagnostics.static.ordering.evaluation_order import Arms
from diagnostics.static.program.functions import Function


class EventOrder(StrEnum):
    """What is known of one event before another one."""

    SURELY = "surely"  # whenever the later one happens, the earlier one has
    MAYBE = "maybe"  # where both happen, in this order
    EXCLUSIVE = "exclusive"  # in one run only one of them happens
    AFTER = "after"  # the other way round


@dataclass(frozen=True, slots=True)
class Site:
    """A call, or an import, in a function."""

    syntax: ast.AST
    function: Function


@dataclass(frozen=True, slots=True, eq=False)
class CallEvent:
    """One call that a process makes. `chain` are the calls that led to it, outermost first."""

    index: int
    call: ast.Call
    function: Function
    name: str
    chain: tuple[Site, ...]
    arms: Arms
    statement: ast.stmt | None = None

    @property
    def sites(self) -> tuple[Site, ...]:
        """Returns the chain and the call itself."""
        return (*self.chain, Site(self.call, self.function))


@dataclass(slots=True, eq=False)
class Trace:
    """What one process calls. `cut`: it was too long; what comes later is missing."""

    entry: Function
    start: EntryPoint
    events: list[CallEvent] = field(default_factory=list)
    cut: bool = False

    def named(self, *names: str) -> Iterator[CallEvent]:
        """Yields the events of these full names."""
        return (one for one in self.events if one.name in names)

    def where(self, fits: Callable[[str], bool]) -> Iterator[CallEvent]:
        """Yields the events whose name fits."""
        return (one for one in self.events if fits(one.name))

    def first(self, *names: str) -> CallEvent | None:
        """Returns the first event of one of these names."""
        return next(self.named(*names), None)

    @staticmethod
    def exclusive(one: CallEvent, other: CallEvent) -> bool:
        """Whether only one of the two happens in one run."""
        if not one.arms or not other.arms:
            return False
        taken = {arm.test: arm.taken for arm in one.arms}
        return any(taken.get(arm.test, arm.taken) != arm.taken for arm in other.arms)

    def order(self, one: CallEvent, other: CallEvent) -> EventOrder:
        """Returns what is known of `one` happening before `other`."""
        if self.exclusive(one, other):
            return EventOrder.EXCLUSIVE
        if one.index >= other.index:
            return EventOrder.AFTER
        tests = {(arm.test, arm.taken) for arm in other.arms}
        return EventOrder.SURELY if all((arm.test, arm.taken) in tests for arm in one.arms) else EventOrder.MAYBE


def meeting(one: CallEvent, other: CallEvent) -> tuple[Site, Site]:
    """Returns where the ways to two events part: the two calls in the one function that leads to both."""
    pair = (one.sites[0], other.sites[0])
    for mine, yours in zip(one.sites, other.sites, strict=False):
        pair = (mine, yours)
        if mine.syntax is not yours.syntax:
            break
    return pair
