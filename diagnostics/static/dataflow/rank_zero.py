"""Whether a condition lets in rank 0 alone, or all but rank 0. Pure."""

from __future__ import annotations

import ast
import re

from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_YES_OR_NO = re.compile(r"^_?is_|^(?:main|master)_process$", re.IGNORECASE)
_ROUNDS = 3


def admits_rank_zero(test: ast.expr, function: Function, project: Project, rounds: int = _ROUNDS) -> bool | None:
    """Returns True for `rank == 0`, False for `rank != 0`, None for a condition that does neither."""
    if rounds < 0:
        return None
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = admits_rank_zero(operand, function, project, rounds)
            return None if inner is None else not inner
        case ast.BoolOp(values=values):
            answers = [admits_rank_zero(one, function, project, rounds) for one in values]
            return next((one for one in answers if one is not None), None)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(left, op, right, function, project, rounds)
        case ast.Name() | ast.Attribute() | ast.Call():
            return _named(test, function, project, rounds)
    return None


def _named(test: ast.Name | ast.Attribute | ast.Call, function: Function, project: Project, rounds: int) -> bool | None:
    if source_of(test) == RANK:
        return bool(_YES_OR_NO.search(last_name(test)))  # `if rank:` lets in all but the first
    if isinstance(test, ast.Name):
        values = function.assigned.get(test.id, [])
        return admits_rank_zero(values[0], function, project, rounds - 1) if len(values) == 1 else None
    if isinstance(test, ast.Call):
        for target in project.targets(test, function):
            returned = [one.value for one in target.nodes_of(ast.Return) if isinstance(one, ast.Return) and one.value]
            answers = [admits_rank_zero(one, target, project, rounds - 1) for one in returned]
            return next((one for one in answers if one is not None), None)
    return None


def _compared(
    left: ast.expr, op: ast.cmpop, right: ast.expr, function: Function, project: Project, rounds: int
) -> bool | None:
    if not is_rank(left, function, rounds):
        return None
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, (ast.List, ast.Tuple, ast.Set)):
        listed = [ast.unparse(one) for one in right.elts]
        return isinstance(op, ast.In) if set(listed) <= {"-1", "0"} and "0" in listed else None
    number = right.value if isinstance(right, ast.Constant) else None
    if number == 0 and isinstance(op, (ast.Eq, ast.LtE)):
        return True
    if number == 0 and isinstance(op, (ast.NotEq, ast.Gt)):
        return False
    return True if number == 1 and isinstance(op, ast.Lt) else None


def is_rank(value: ast.expr, function: Function, rounds: int = _ROUNDS) -> bool:
    """Whether an expression is the rank's number, as far as its name or its one assignment says."""
    if isinstance(value, ast.Call) and last_name(value.func) == "int" and value.args:
        return is_rank(value.args[0], function, rounds)
    if any(source_of(one) == RANK for one in walk(value) if not isinstance(one, ast.Name) or one is value):
        return True
    if isinstance(value, ast.Name) and rounds > 0:
        values = function.assigned.get(value.id, [])
        return len(values) == 1 and is_rank(values[0], function, rounds - 1)
    return False
