"""What taints are known of names, attributes and returned values, and which functions have to be looked at again. Pure.

A function spreads what it reads. It is looked at again only where something that it read has changed since.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from diagnostics.static.dataflow.name_taints import NameTaints
from diagnostics.static.dataflow.taint_rules import importance
from diagnostics.static.dataflow.taint_sources import Taint
from diagnostics.static.program.functions import Function

Key = int | str | tuple[int, str]  # of what a function returns, of an attribute, of a name in a function


@dataclass(slots=True)
class TaintStore:
    """Taints by where they are, each with the moment at which it last changed."""

    _names: NameTaints = field(default_factory=NameTaints)
    _attributes: dict[str, Taint] = field(default_factory=dict)
    _returns: dict[int, Taint] = field(default_factory=dict)
    _grown: dict[tuple[int, str], Taint] = field(default_factory=dict)
    _changed_at: dict[Key, int] = field(default_factory=dict)
    _now: int = 0
    _read: set[Key] = field(default_factory=set)
    _spread: dict[int, tuple[int, set[Key]]] = field(default_factory=dict)

    def rounds(self, functions: Iterable[Function], most: int) -> Iterator[Function]:
        """Yields functions to spread, round by round, until nothing changes."""
        several = list(functions)
        for _ in range(most):
            before = self._now
            for function in several:
                began, read = self._spread.get(id(function), (-1, set()))
                if began < 0 or any(self._changed_at.get(key, -1) > began for key in read):
                    began, self._read = self._now, set()
                    yield function
                    self._spread[id(function)] = (began, self._read)
            if self._now == before:
                break
        self._read = set()

    # What is known

    def attribute(self, key: str) -> Taint | None:
        """Returns the taint of an attribute."""
        self._read.add(key)
        return self._attributes.get(key)

    def returned(self, function: Function) -> Taint | None:
        """Returns the taint of what a function gives back."""
        self._read.add(id(function))
        return self._returns.get(id(function))

    def holds(self, function: Function, name: str) -> bool:
        """Whether anything is known of a name of this function."""
        self._read.add((id(function), name))
        return self._names.holds(function, name)

    def best(self, function: Function, name: str) -> Taint | None:
        """Returns the weightiest taint of a name, wherever it was set."""
        self._read.add((id(function), name))
        return self._names.best(function, name)

    def grown(self, function: Function, name: str) -> Taint | None:
        """Returns why only some ranks add an item to what has this name."""
        self._read.add((id(function), name))
        return self._grown.get((id(function), name))

    def at(self, name: ast.Name, function: Function, since: int = 0) -> Taint | None:
        """Returns the weightiest taint that can have come to this use of a name, of what was set after line `since`."""
        self._read.add((id(function), name.id))
        return self._names.at(name, function, since)

    # What becomes known

    def set_attribute(self, key: str, taint: Taint | None) -> None:
        """Keeps the weightier taint of an attribute."""
        known = self._attributes.get(key)
        if key and taint is not None and (known is None or importance(taint) > importance(known)):
            self._attributes[key] = taint
            self._change(key)

    def set_returned(self, function: Function, taint: Taint) -> None:
        """Keeps the weightier taint of what a function gives back."""
        known = self._returns.get(id(function))
        if known is None or importance(taint) > importance(known):
            self._returns[id(function)] = taint
            self._change(id(function))

    def set_name(self, function: Function, name: str, taint: Taint, line: int) -> None:
        """Adds a taint of a name."""
        if self._names.add(function, name, taint, line):
            self._change((id(function), name))

    def set_grown(self, function: Function, name: str, taint: Taint) -> None:
        """Keeps the weightier reason why only some ranks add an item."""
        known = self._grown.get((id(function), name))
        if known is None or importance(taint) > importance(known):
            self._grown[id(function), name] = taint
            self._change((id(function), name))

    def _change(self, key: Key) -> None:
        self._now += 1
        self._changed_at[key] = self._now
