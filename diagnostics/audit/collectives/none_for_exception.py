"""Whether ranks part by an exception that is told by a None: one that was caught, or one handed to `__exit__`."""

from __future__ import annotations

import ast

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.divergent_branch import DivergentBranch


def given_for_an_exception(parting: DivergentBranch, project: Project) -> bool:
    """Whether a test asks for what a function gives back, and that gives back None where it caught an exception."""
    test, function = getattr(parting.decision, "test", None), parting.function
    names = {node.id for node in walk(test) if isinstance(node, ast.Name)} if test is not None else set()
    calls = [one for name in names for one in function.assigned.get(name, ()) if isinstance(one, ast.Call)]
    return any(
        isinstance(node, ast.Return) and (node.value is None or _is_none(node.value))
        for call in calls
        for target in project.targets(call, function)
        for handler in target.nodes_of(ast.ExceptHandler)
        for node in walk(handler)
    )


def left_by_exception(parting: DivergentBranch) -> bool:
    """Whether the operation stands where `__exit__` is handed an exception: only a rank that failed comes there."""
    taint, decision = parting.taint, parting.decision
    if taint is None or not isinstance(taint.syntax, ast.arg) or not isinstance(decision, ast.If):
        return False
    test, inside = decision.test, decision.body
    none = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is)
    if none or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
        inside = decision.orelse
    return any(node is parting.here.chain[0][0] for part in inside for node in walk(part))


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
