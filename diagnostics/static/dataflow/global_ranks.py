"""Where a value comes from that is the rank among all processes, not that on its own machine. Pure."""

from __future__ import annotations

import ast

from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.rank_guards import reaching_values
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

GET_RANK = "torch.distributed.get_rank"
_DEPTH = 4
Source = tuple[ast.AST, Function]  # where it is taken from, and the function that is in


def global_rank_origin(value: ast.AST, function: Function, project: Project, depth: int = _DEPTH) -> Source | None:
    """Returns where a value is taken from, if it is the rank among all processes and nothing else; else None."""
    if depth < 0:
        return None
    if isinstance(value, ast.Call):
        if project.name(value.func, function) == GET_RANK and not value.args and not value.keywords:
            return value, function
        if last_name(value.func) == "int" and len(value.args) == 1:
            return global_rank_origin(value.args[0], function, project, depth)
        if last_name(value.func) in ("get", "getenv") and value.args and _is_variable(value.args[0]):
            return value, function
        if last_name(value.func) == "field":
            return _made_by(value, function, project, depth)
        return _returned(value, function, project, depth)
    if isinstance(value, ast.Subscript):
        found_here = last_name(value.value) == "environ" and _is_variable(value.slice)
        return (value, function) if found_here else None
    if isinstance(value, ast.Attribute):
        kept = project.attribute_values(value, function)
        found = [global_rank_origin(one, where, project, depth - 1) for one, where in kept]
        return found[0] if found and all(found) else None
    if isinstance(value, ast.Name):
        found = [
            global_rank_origin(one, where, project, depth - 1)
            for one, where in reaching_values(value, function, project)
        ]
        return found[0] if found and all(found) else None
    return None


def _is_variable(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in rank_words.GLOBAL_RANK_VARIABLES


def _returned(call: ast.Call, function: Function, project: Project, depth: int) -> Source | None:
    """Returns where the result of a project's function comes from, if all its returns are the rank."""
    targets = project.targets(call, function)
    found = [
        global_rank_origin(one.value, target, project, depth - 1)
        for target in targets
        for one in target.nodes_of(ast.Return)
        if isinstance(one, ast.Return) and one.value is not None and not isinstance(one.value, ast.Constant)
    ]
    return found[0] if found and all(found) else None


def _made_by(field: ast.Call, function: Function, project: Project, depth: int) -> Source | None:
    """Returns where a dataclass's field comes from: `field(default_factory=lambda: int(os.environ["RANK"]))`."""
    for one in field.keywords:
        if one.arg == "default":
            return global_rank_origin(one.value, function, project, depth - 1)
        if one.arg == "default_factory" and isinstance(one.value, ast.Lambda):
            return global_rank_origin(one.value.body, function, project, depth - 1)
    return None
