"""The one assignment that a use of a name has its value from where several ranks run, where there is one. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.static.dataflow.several_ranks import holds_for_several
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function

_PARTS = ("body", "orelse", "finalbody", "handlers")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def last_assigned(name: ast.Name, function: Function) -> ast.expr | None:
    """Returns what a name was set to last before its use: `loss = summed(loss)`, also under `if world_size > 1`.

    None where a branch, an earlier round of a loop or a caller may have set it.
    """
    suites = list(_suites_with(name, getattr(function.syntax, "body", ())))
    for suite, at, looped in reversed(suites):
        for statement in reversed(suite[:at]):
            known, value = _set_by(statement, name.id)
            if known:
                return value
        if looped and any(_stores(one, name.id) for one in suite):
            return None
    return None


def _suites_with(name: ast.Name, suite: object) -> Iterator[tuple[Sequence[ast.stmt], int, bool]]:
    """Yields the blocks around a use, outermost first: each, where in it the use is, and whether it goes round."""
    looped = False
    while isinstance(suite, list):
        at = next((n for n, one in enumerate(suite) if _covers(one, name)), None)
        if at is None:
            return
        yield suite, at, looped
        holder = suite[at]
        parts = [part for part in _PARTS if any(_covers(one, name) for one in getattr(holder, part, ()))]
        looped = isinstance(holder, _LOOPS)
        suite = getattr(holder, parts[0]) if parts else None


def _covers(node: ast.AST, name: ast.Name) -> bool:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) or 0
    return first <= name.lineno <= last


def _set_by(statement: ast.stmt, name: str) -> tuple[bool, ast.expr | None]:
    """Returns whether a statement may set a name, and to what where that is sure."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name) and target.id == name:
            return True, statement.value
    if isinstance(statement, ast.If) and (told := holds_for_several(statement.test)) is not None:
        for one in reversed(statement.body if told else statement.orelse):
            known, value = _set_by(one, name)
            if known:
                return True, value
        return False, None
    return _stores(statement, name), None


def _stores(statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in walk(statement)
    )
