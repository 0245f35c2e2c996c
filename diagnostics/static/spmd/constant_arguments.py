"""What a call's own constants rule out in the function that it enters: `TempDir(path, sync=False)`. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, default_of
from diagnostics.static.program.project import Project


def may_run(node: ast.AST, target: Function, call: ast.Call, project: Project) -> bool:
    """Whether a node of `target` can run when it is entered by `call`, as far as constants decide it."""
    parents = project.file_with(target).parents
    inner, around = node, parents.get(node)
    while around is not None and around is not target.syntax:
        if isinstance(around, ast.If):
            truth = _truth(around.test, target, call)
            arm = around.body if truth is False else around.orelse if truth else []
            if any(one is inner for part in arm for one in walk(part)):
                return False
        inner, around = around, parents.get(around)
    return True


def _truth(test: ast.expr, target: Function, call: ast.Call) -> bool | None:
    """Returns how a test of a parameter falls: one that is given a constant, or none and has one."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        truth = _truth(test.operand, target, call)
        return None if truth is None else not truth
    if not isinstance(test, ast.Name) or test.id not in target.parameters or test.id in target.assigned:
        return None
    if any(one.arg is None for one in call.keywords) or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    at = target.parameters.index(test.id) - target.implied
    given = next((one.value for one in call.keywords if one.arg == test.id), None)
    if given is None:
        given = call.args[at] if 0 <= at < len(call.args) else default_of(target, test.id)
    return bool(given.value) if isinstance(given, ast.Constant) else None
