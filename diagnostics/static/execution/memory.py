"""What is written while a program runs: both ways of a test begin with the same state, joined behind it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from diagnostics.static.execution.values import UNKNOWN, Const, Made, Value, is_carried, joined

_ABSENT: Any = object()


class Flow(Enum):
    """How a statement ends."""

    NEXT = "next"
    RETURN = "return"
    BREAK = "break"
    CONTINUE = "continue"
    RAISE = "raise"


LEAVES_FUNCTION = frozenset([Flow.RETURN, Flow.RAISE])


class Journal:
    """Every write to names and attributes, so that it can be taken back."""

    def __init__(self) -> None:
        self._journal: list[tuple[dict[Any, Any], Any, Any]] = []
        self._depths: dict[tuple[int, Any], int] = {}  # how many loops were open at the last write
        self._carried: dict[tuple[int, Any], Made] = {}
        # Names of a function that was left are kept: another one's at their address would be taken for them.
        self._stores: dict[int, dict[Any, Any]] = {}
        self.depth = 0  # how many loops are open of which one round stands for all

    def write(self, store: dict[Any, Any], key: Any, value: Any) -> None:
        """Sets a name, an attribute, or what is in a container."""
        self._journal.append((store, key, store.get(key, _ABSENT)))
        store[key] = value
        place = (id(store), key)
        self._stores[id(store)] = store
        self._depths[place] = self.depth
        if place in self._carried and isinstance(value, Value) and not is_carried(value):
            self._after(self._carried[place], value)

    def born(self, store: dict[Any, Any]) -> None:
        """Notes that what a store holds was put into it now."""
        if self.depth:
            self._stores[id(store)] = store
            for key in store:
                self._depths[id(store), key] = self.depth

    @staticmethod
    def _after(carried: Made, value: Value) -> None:
        known = carried.fields.get("after")
        if not isinstance(value, Const) or known is None:
            one = value if known is None or isinstance(known, Const) else joined([known, value])
            carried.fields["after"] = one if one is not UNKNOWN else value

    def carried(self, store: dict[Any, Any], key: Any, value: Const) -> Value:
        """Returns a value that a loop around may have set in an earlier round: not surely what it was before it."""
        place = (id(store), key)
        if self.depth <= self._depths.get(place, 0):
            return value
        if place not in self._carried:
            self._stores[id(store)] = store
            self._carried[place] = Made("carried", args=(value,))
        return self._carried[place]

    def alternatives(self, ways: Sequence[Callable[[], Flow]], tests: Sequence[Value]) -> list[Flow]:
        """Runs each way from the same state; what goes on behind them has what each left, joined."""
        flows, ended = [], []
        for way in ways:
            mark = len(self._journal)
            flow = way()
            flows.append(flow)
            if flow not in LEAVES_FUNCTION:
                ended.append(self._changed_since(mark))
            self._undo(mark)
        keys = {key: place for changed in ended for key, place in changed.items()}
        for key, (store, name, _) in keys.items():
            before = store.get(name, _ABSENT)
            after = [changed[key][2] if key in changed else before for changed in ended]
            self.write(store, name, _merged(after, tests))
        return flows

    def _changed_since(self, mark: int) -> dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]]:
        return {(id(store), key): (store, key, store.get(key, _ABSENT)) for store, key, _ in self._journal[mark:]}

    def _undo(self, mark: int) -> None:
        while len(self._journal) > mark:
            store, key, before = self._journal.pop()
            self._depths.pop((id(store), key), None)
            if before is _ABSENT:
                store.pop(key, None)
            else:
                store[key] = before


def _merged(values: Sequence[Any], tests: Sequence[Value]) -> Any:
    known = [one for one in values if one is not _ABSENT]
    if not known:
        return UNKNOWN
    if any(isinstance(one, tuple) for one in known):  # what is in a list: what is in it at most
        return max((one for one in known if isinstance(one, tuple)), key=len)
    return known[0] if len(known) == 1 else joined(known, tests)
