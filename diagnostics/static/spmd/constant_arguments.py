"""What a call's own constants rule out in the functions that it enters: `TempDir(path, sync=False)`. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, default_of
from diagnostics.static.program.project import Project

Constants = Mapping[str, ast.Constant]  # of a function's parameters, those whose value a call says

_NONE_KNOWN: Constants = {}


def may_run(way: Sequence[tuple[ast.Call, Function]], target: Function, call: ast.Call, project: Project) -> bool:
    """Whether the calls of a way that begins in `target` can run when it is entered by `call`.

    A constant is followed from function to function as long as each hands it on, as `self._append(row, gather=gather)`
    does; so is a default that nobody overrides.
    """
    entered, known = target, _given(call, target, _NONE_KNOWN)
    for at, (node, _) in enumerate(way):
        if not _may_run(node, entered, known, project):
            return False
        if at + 1 < len(way):
            following = way[at + 1][1]
            known, entered = _given(node, following, known), following
    return True


def _may_run(node: ast.AST, target: Function, known: Constants, project: Project) -> bool:
    """Whether a node of a function can run, as far as constants decide it."""
    parents = project.file_with(target).parents
    inner, around = node, parents.get(node)
    while around is not None and around is not target.syntax:
        if isinstance(around, ast.If):
            truth = _truth(around.test, target, known)
            arm = around.body if truth is False else around.orelse if truth else []
            if any(one is inner for part in arm for one in walk(part)):
                return False
        inner, around = around, parents.get(around)
    return True


def _truth(test: ast.expr, target: Function, known: Constants) -> bool | None:
    """Returns how a test falls by what is known of the parameters in it."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        truth = _truth(test.operand, target, known)
        return None if truth is None else not truth
    if isinstance(test, ast.BoolOp):
        ending = isinstance(test.op, ast.Or)
        truths = [_truth(one, target, known) for one in test.values]
        return ending if ending in truths else None if None in truths else not ending
    if not isinstance(test, ast.Name) or test.id in target.assigned or test.id not in known:
        return None
    return bool(known[test.id].value)


def _given(call: ast.Call, target: Function, outer: Constants) -> Constants:
    """Returns the parameters of a function that a call gives a constant, or leaves to one; `outer` holds the caller's.

    Nothing is known of a function that the call only hands on, as `Thread(target=self.work)` does.
    """
    if any(one.arg is None for one in call.keywords) or any(isinstance(one, ast.Starred) for one in call.args):
        return _NONE_KNOWN
    found: dict[str, ast.Constant] = {}
    for at, name in enumerate(target.parameters):
        said = next((one.value for one in call.keywords if one.arg == name), None)
        if said is None:
            place = at - target.implied
            said = call.args[place] if 0 <= place < len(call.args) else default_of(target, name)
        if isinstance(said, ast.Name):
            said = outer.get(said.id)
        if isinstance(said, ast.Constant):
            found[name] = said
    return found
