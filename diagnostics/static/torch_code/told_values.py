"""Values that a program only tells: it prints them, and nothing is decided by them. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project_file import ProjectFile

_TELLS = {"print", "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "write", "echo"}
_ACTS = (ast.Raise, ast.Return, ast.Assign, ast.AugAssign, ast.Continue, ast.Break, ast.Assert, ast.Yield)
_LEAVES = {"exit", "_exit", "kill", "abort", "quit"}


def only_told(value: ast.expr, function: Function, file: ProjectFile) -> bool:
    """Whether what a call gives back is kept under a name that is only told, or under one that nobody asks for."""
    statement = file.parents.get(value)
    if isinstance(statement, ast.Attribute):
        statement = file.parents.get(statement)  # `run(...).returncode`
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    uses = [one for one in walk(function.syntax) if isinstance(one, ast.Name) and one.id == name]
    reads = [one for one in uses if isinstance(one.ctx, ast.Load)]
    return name != "_" and all(is_only_told(one, file) for one in reads)


def is_only_told(value: ast.AST, file: ProjectFile) -> bool:
    """Whether a value ends in a line that is printed, or in a test of which both arms only print."""
    around = file.parents.get(value)
    child: ast.AST = value
    while around is not None:
        if isinstance(around, ast.Call) and child is not around.func:
            return last_name(around.func) in _TELLS
        if isinstance(around, ast.If):
            return child is around.test and not any(
                _acts(one) for part in (*around.body, *around.orelse) for one in walk(part)
            )
        if isinstance(around, ast.stmt):
            return isinstance(around, ast.Expr)
        child, around = around, file.parents.get(around)
    return False


def _acts(node: ast.AST) -> bool:
    return isinstance(node, _ACTS) or (isinstance(node, ast.Call) and last_name(node.func) in _LEAVES)


def tells(call: ast.Call) -> bool:
    """Whether a call prints or logs, and does nothing else."""
    return last_name(call.func) in _TELLS
