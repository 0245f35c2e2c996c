"""Where an expression takes the rank among all processes from. Pure."""

from __future__ import annotations

import ast

from diagnostics.analysis.flow_files import Function, last_name
from diagnostics.analysis.project import Project
from diagnostics.analysis.rank_guards import values_of

_ROUNDS = 3
_CALLS = frozenset(["torch.distributed.get_rank"])


def global_rank(value: ast.AST, function: Function, project: Project, rounds: int = _ROUNDS) -> ast.AST | None:
    """Returns the node that gives the rank among all processes to `value`, None where it is something else."""
    if isinstance(value, ast.Call):
        if project.name(value.func, function) in _CALLS and not value.args and not value.keywords:
            return value
        if last_name(value.func) == "int" and len(value.args) == 1:
            return global_rank(value.args[0], function, project, rounds)
        asks = isinstance(value.func, ast.Attribute) and value.func.attr in ("get", "getenv")
        first = value.args[0] if asks and value.args else None
        return value if isinstance(first, ast.Constant) and first.value == "RANK" else None
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant) and value.slice.value == "RANK":
        return value
    if isinstance(value, ast.Name) and rounds:
        for one, scope in values_of(value, function, project):
            if (found := global_rank(one, scope, project, rounds - 1)) is not None:
                return found
    return None
