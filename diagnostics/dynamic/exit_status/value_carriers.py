"""Where a program keeps a value that is followed: names, attributes, containers, what functions give back. Pure."""

from __future__ import annotations

import ast
from enum import IntEnum

from diagnostics.dynamic.exit_status.call_kinds import CallKind, call_kind
from diagnostics.dynamic.exit_status.syntax_index import SyntaxIndex

_MOST = 3000  # values and blocks that are followed: who needs more is not understood


class Consequence(IntEnum):
    """The most that comes of a value."""

    NOTHING = 0
    SAID = 1  # printed, logged, written down
    RECORDED = 2  # what it decided is kept, and then said
    ACTED_ON = 3  # something else is done, or it goes where that cannot be seen


class ValueCarriers:
    """What carries the value so far; `_waiting` are expressions that have it, and whether a test decided on it."""

    def __init__(self, index: SyntaxIndex) -> None:
        self._index = index
        self._seen: set[tuple[object, ...]] = set()
        self._waiting: list[tuple[ast.AST, bool]] = []
        self._most = Consequence.NOTHING

    def _reach(self, found: Consequence, *, decided: bool = False) -> None:
        if decided and found is Consequence.SAID:
            found = Consequence.RECORDED
        self._most = max(self._most, found)

    def _act(self) -> None:
        self._reach(Consequence.ACTED_ON)

    def _first_time(self, *key: object) -> bool:
        if key in self._seen:
            return False
        self._seen.add(key)
        if len(self._seen) > _MOST:
            self._act()
        return True

    def _add(self, node: ast.AST, *, decided: bool) -> None:
        if self._first_time("value", id(node), decided):
            self._waiting.append((node, decided))

    def _store(self, target: ast.AST, *, decided: bool) -> None:
        match target:
            case ast.Name():
                scope = self._index.scope_of(target)
                bound = target if isinstance(target.ctx, ast.Store) else None
                self._carry(scope, target.id, decided=decided, bound=bound)
                if not isinstance(target.ctx, ast.Store):
                    self._changed_parameter(scope, target.id, decided)
            case ast.Attribute():
                self._carry_attribute(target.attr, decided=decided)
            case ast.Subscript() | ast.Starred():
                self._store(target.value, decided=decided)
            case ast.Tuple() | ast.List():
                for one in target.elts:
                    self._store(one, decided=decided)
            case ast.Call() if call_kind(target) in (CallKind.MAKES, CallKind.STORES) and target.args:
                # `table.setdefault(name, []).append(code)`
                inner = target.func.value if isinstance(target.func, ast.Attribute) else target.args[0]
                self._store(inner, decided=decided)
            case _:
                self._act()

    def _changed_parameter(self, scope: ast.AST, name: str, decided: bool) -> None:
        """What a function puts into an object that it was given is in the hands of who gave it."""
        if name not in self._index.parameters(scope) or not self._first_time("changed", id(scope), name):
            return
        for call in self._index.calls_of(scope):
            for given in self._index.given_for(scope, call, name):
                if isinstance(given, ast.Name | ast.Attribute | ast.Subscript):
                    self._store(given, decided=decided)

    def _carry(self, scope: ast.AST, name: str, *, decided: bool, bound: ast.Name | None = None) -> None:
        if self._first_time("name", id(scope), name, decided, id(bound)):
            for load in self._index.loads(scope, name, bound):
                self._add(load, decided=decided)

    def _carry_attribute(self, name: str, *, decided: bool) -> None:
        if self._first_time("attribute", name, decided):
            for load in self._index.attributes[name]:
                self._add(load, decided=decided)

    def _given_back(self, function: ast.AST | None, *, decided: bool) -> None:
        if function is None or not self._first_time("result", id(function), decided):
            return
        uses, whole = self._index.uses_of(function)
        if not whole:
            self._act()
        for use in uses:
            self._add(use, decided=decided)
