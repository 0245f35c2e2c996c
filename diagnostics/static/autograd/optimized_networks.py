"""Which networks an optimizer changes, in the words of the function that steps it. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.module_classes import own_attribute


def optimized(optimizer: ast.expr, function: Function, project: Project) -> frozenset[str]:
    """Returns the expressions of the networks that an optimizer was given, empty where it is not known."""
    if isinstance(optimizer, ast.Name):
        if optimizer.id in function.assigned:
            return _only(function.assigned[optimizer.id])
        if optimizer.id in function.parameters:
            return _passed(optimizer.id, function, project)
    own = own_attribute(optimizer)
    kind = project.class_of(function) if own else None
    if kind is not None:
        return _only([value for value, _ in project.class_attributes(kind, own)])
    return frozenset()


def _only(values: list[ast.expr]) -> frozenset[str]:
    found = [frozenset(_networks(value)) for value in values]
    return found[0] if found and all(one == found[0] for one in found) else frozenset()


def _networks(value: ast.expr) -> Iterator[str]:
    """`d` of `Adam(d.parameters(), lr=1e-3)`."""
    for argument in value.args[:1] if isinstance(value, ast.Call) else ():
        if isinstance(argument, ast.Call) and isinstance(argument.func, ast.Attribute):
            network = argument.func.value
            if argument.func.attr == "parameters" and isinstance(network, (ast.Name, ast.Attribute)):
                yield ast.unparse(network)


def _passed(name: str, function: Function, project: Project) -> frozenset[str]:
    """Through the callers: `step(d, opt_d)` where `opt_d = Adam(d.parameters())`."""
    answers: list[frozenset[str]] = []
    shift = 1 if function.owner is not None else 0
    for call, caller in project.callers(function)[:4]:
        given = dict(zip(function.parameters[shift:], call.args, strict=False))
        given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
        there = optimized(given[name], caller, project) if name in given and caller is not function else frozenset()
        here = {parameter for parameter, value in given.items() if ast.unparse(value) in there}
        answers.append(frozenset(here))
    return answers[0] if answers and all(one == answers[0] for one in answers) else frozenset()
