"""Where a value was made: followed through names, parameters, attributes, choices and what functions return. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.dataflow.rank_guards import reaching_values
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project

_ROUNDS = 5
_MOST = 8
Origin = tuple[ast.expr, Function]


def origins(value: ast.expr, function: Function, project: Project) -> tuple[Origin, ...]:
    """Returns the expressions that a value may come from, each once, with the function that each stands in."""
    found: dict[int, Origin] = {}
    for one, where in _origins(value, function, project, _ROUNDS):
        found.setdefault(id(one), (one, where))
    return tuple(found.values())


def _origins(value: ast.expr, function: Function, project: Project, rounds: int) -> Iterator[Origin]:
    ways = list(_ways(value, function, project)) if rounds else []
    if not ways:
        yield value, function
        return
    for one, where in ways:
        yield from _origins(one, where, project, rounds - 1)


def _ways(value: ast.expr, function: Function, project: Project) -> Iterator[Origin]:
    match value:
        case ast.Name():
            yield from reaching_values(value, function, project)
        case ast.Attribute():
            yield from project.attribute_values(value, function)[:_MOST]
            for getter in project.getters(value, function):
                yield from _returned(getter)
        case ast.IfExp(body=body, orelse=orelse):
            yield body, function
            yield orelse, function
        case ast.NamedExpr(value=inner):
            yield inner, function
        case ast.BoolOp(values=values):
            yield from ((one, function) for one in values)
        case ast.Call():
            for target in project.targets(value, function):
                yield from _returned(target)


def _returned(function: Function) -> Iterator[Origin]:
    for node in function.nodes_of(ast.Return):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value, function
