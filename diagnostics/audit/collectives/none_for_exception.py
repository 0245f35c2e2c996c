"""Whether the None that ranks part by stands for an exception that a function of the project caught."""

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


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
