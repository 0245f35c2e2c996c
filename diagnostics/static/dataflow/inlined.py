"""An expression with the project's small functions and properties written out in it: what a test asks in the end. Pure.

`state.syncs` becomes `(state.step + 1) % state.every == 0`. What does more than give one value back is left as it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project

_ROUNDS = 4


def inlined(value: ast.expr, function: Function, project: Project, rounds: int = _ROUNDS) -> ast.expr:
    """Returns the expression written out; itself where nothing in it can be."""
    if rounds <= 0:
        return value
    match value:
        case ast.Attribute():
            getters = project.getters(value, function)
            if len(getters) == 1 and (body := _given_back(getters[0])) is not None:
                whole = inlined(body, getters[0], project, rounds - 1)
                return _Named({"self": value.value}).visit(copy.deepcopy(whole))  # type: ignore[no-any-return]
        case ast.Call():
            targets = project.targets(value, function)
            if len(targets) == 1 and (body := _given_back(targets[0])) is not None:
                whole = inlined(body, targets[0], project, rounds - 1)
                return _Named(_arguments(value, targets[0])).visit(copy.deepcopy(whole))  # type: ignore[no-any-return]
        case ast.UnaryOp(op=op, operand=operand):
            return ast.copy_location(ast.UnaryOp(op, inlined(operand, function, project, rounds)), value)
        case ast.BoolOp(op=either, values=parts):
            several = [inlined(one, function, project, rounds) for one in parts]
            return ast.copy_location(ast.BoolOp(either, several), value)
        case ast.IfExp():
            parts = [inlined(one, function, project, rounds) for one in (value.test, value.body, value.orelse)]
            return ast.copy_location(ast.IfExp(*parts), value)
    return value


def _given_back(function: Function) -> ast.expr | None:
    """Returns what a function gives back where that is all it does."""
    if isinstance(function.syntax, ast.Lambda):
        return function.syntax.body
    body = [one for one in getattr(function.syntax, "body", ()) if not _is_text(one)]
    match body:
        case [ast.Return(value=ast.expr() as value)]:
            return value
        case [ast.If(test=test, body=[ast.Return(value=ast.expr() as one)], orelse=[]), ast.Return(value=other)]:
            return ast.copy_location(ast.IfExp(test, one, other), one) if other is not None else None
        case [ast.If(test=test, body=[ast.Return(value=ast.expr() as one)], orelse=[ast.Return(value=other)])]:
            return ast.copy_location(ast.IfExp(test, one, other), one) if other is not None else None
    return None


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _arguments(call: ast.Call, target: Function) -> Mapping[str, ast.expr]:
    given = dict(zip(target.parameters[target.implied :], call.args, strict=False))
    given.update({one.arg: one.value for one in call.keywords if one.arg})
    if target.implied and isinstance(call.func, ast.Attribute):
        given[target.parameters[0]] = call.func.value
    return given


class _Named(ast.NodeTransformer):
    """Puts expressions in the place of names."""

    def __init__(self, given: Mapping[str, ast.expr]) -> None:
        self._given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self._given.get(node.id, node))
