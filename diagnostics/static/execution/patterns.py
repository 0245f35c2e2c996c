"""`match` statements on values that are not known. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.execution.implied import ImpliedCalls
from diagnostics.static.execution.values import Class, Const, Instance, Items, Made, Scope, Value


class Patterns(ImpliedCalls):
    """Which cases a value may be, and what the names of a pattern hold."""

    def cases(self, node: ast.Match, subject: Value, scope: Scope) -> list[tuple[ast.match_case, bool | None]]:
        """Returns the cases that a value may be, to the first that it surely is; whether it is, None: not known."""
        found: list[tuple[ast.match_case, bool | None]] = []
        for one in node.cases:
            told = self.matches(one.pattern, subject, scope)
            if told is not False:
                found.append((one, told if one.guard is None else None))
                if found[-1][1] is True:
                    break
        return found

    def matches(self, pattern: ast.pattern, value: Value, scope: Scope) -> bool | None:
        """Whether a value is as a pattern says; binds the names in it."""
        if isinstance(pattern, ast.MatchAs):
            told = self.matches(pattern.pattern, value, scope) if pattern.pattern is not None else True
            if pattern.name:
                self.state.memory.write(scope.fields, pattern.name, value)
            return told
        if isinstance(pattern, ast.MatchOr):
            each = [self.matches(one, value, scope) for one in pattern.patterns]
            return True if True in each else None if None in each else False
        if isinstance(pattern, (ast.MatchValue, ast.MatchSingleton)):
            wanted = Const(pattern.value) if isinstance(pattern, ast.MatchSingleton) else self.evaluate(
                pattern.value, scope)  # fmt: skip
            both = isinstance(wanted, Const) and isinstance(value, Const)
            return wanted.value == value.value if both else None  # type: ignore[attr-defined] # both are Const
        if isinstance(pattern, ast.MatchClass):
            kind = self.evaluate(pattern.cls, scope)
            for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
                self.matches(inner, self.attribute(value, name, pattern, scope), scope)
            for at, inner in enumerate(pattern.patterns):
                self.matches(inner, self.item(value, Const(at), pattern, scope), scope)
            if isinstance(value, Instance) and isinstance(kind, Class) and not pattern.kwd_attrs + pattern.patterns:
                return any(one is kind for one in self.lineage(value.kind))
            return None
        if isinstance(pattern, ast.MatchSequence):
            for at, inner in enumerate(pattern.patterns):
                self.matches(inner, self.item(value, Const(at), pattern, scope), scope)
            known = isinstance(value, Items) and not value.open
            return None if not known or len(value.items) == len(pattern.patterns) else False  # type: ignore[attr-defined]
        for child in ast.iter_child_nodes(pattern):
            if isinstance(child, ast.pattern):
                self.matches(child, Made("item", owner=value, node=pattern), scope)
        return None
