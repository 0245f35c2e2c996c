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


class Decided(IntEnum):
    """Whether what is followed depends on a test of the value, and was put beside others since."""

    NOT = 0
    BY_TEST = 1
    AND_KEPT = 2


def by_test(tested: bool) -> Decided:
    """Returns what a test of the value makes of it."""
    return Decided.BY_TEST if tested else Decided.NOT


def kept(decided: Decided) -> Decided:
    """Returns what it is once it was put into an object, or given back."""
    return Decided.AND_KEPT if decided else Decided.NOT


class ValueCarriers:
    """What carries the value so far; `_waiting` are expressions that have it, and whether a test decided on it."""

    def __init__(self, index: SyntaxIndex) -> None:
        self._index = index
        self._seen: set[tuple[object, ...]] = set()
        self._waiting: list[tuple[ast.AST, Decided]] = []
        self._most = Consequence.NOTHING

    def _reach(self, found: Consequence, *, decided: Decided = Decided.NOT) -> None:
        if decided is Decided.AND_KEPT and found is Consequence.SAID:
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

    def _add(self, node: ast.AST, *, decided: Decided) -> None:
        if self._first_time("value", id(node), decided):
            self._waiting.append((node, decided))

    def _store(self, target: ast.AST, *, decided: Decided) -> None:
        match target:
            case ast.Name():
                scope = self._index.scope_of(target)
                bound = target if isinstance(target.ctx, ast.Store) else None
                decided = decided if bound is not None else kept(decided)  # what is put into an object that it names
                self._carry(scope, target.id, decided=decided, bound=bound)
                if not isinstance(target.ctx, ast.Store):
                    self._changed_parameter(scope, target.id, decided)
            case ast.Attribute():
                self._carry_attribute(target.attr, decided=kept(decided))
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

    def _changed_parameter(self, scope: ast.AST, name: str, decided: Decided) -> None:
        """What a function puts into an object that it was given is in the hands of who gave it."""
        if name not in self._index.parameters(scope) or not self._first_time("changed", id(scope), name):
            return
        for call in self._index.calls_of(scope):
            for given in self._index.given_for(scope, call, name):
                if isinstance(given, ast.Name | ast.Attribute | ast.Subscript):
                    self._store(given, decided=decided)

    def _carry(self, scope: ast.AST, name: str, *, decided: Decided, bound: ast.Name | None = None) -> None:
        if self._first_time("name", id(scope), name, decided, id(bound)):
            for load in self._index.loads(scope, name, bound):
                self._add(load, decided=decided)

    def _carry_attribute(self, name: str, *, decided: Decided) -> None:
        if self._first_time("attribute", name, decided):
            for load in self._index.attributes[name]:
                self._add(load, decided=decided)

    def _given_back(self, function: ast.AST | None, *, decided: Decided) -> None:
        if function is None or not self._first_time("result", id(function), decided):
            return
        decided = kept(decided)
        uses, whole = self._index.uses_of(function)
        if not whole:
            self._act()
        for use in uses:
            self._add(use, decided=decided)
