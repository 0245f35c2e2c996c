"""What in a value cannot be pickled: lambdas, functions of functions, open files. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project

_ROUNDS = 4
_OPENS = frozenset(["open", "h5py.File", "lmdb.open", "sqlite3.connect", "socket.socket", "threading.Lock"])


@dataclass(frozen=True, slots=True, eq=False)
class Unpicklable:
    """One thing that cannot be pickled, with the function that makes it."""

    node: ast.AST
    function: Function
    what: str
    fix: str


def unpicklable(
    value: ast.expr | None, function: Function, project: Project, rounds: int = _ROUNDS
) -> Iterator[Unpicklable]:
    """Yields what a value holds that cannot be pickled, as far as names lead."""
    if value is None or rounds < 0:
        return
    if isinstance(value, ast.Lambda):
        yield Unpicklable(value, function, "a lambda", "define a function at the top of a module")
    elif isinstance(value, (ast.Tuple, ast.List)):
        for one in value.elts:
            yield from unpicklable(one, function, project, rounds)
    elif isinstance(value, ast.Dict):
        for entry in value.values:
            yield from unpicklable(entry, function, project, rounds)
    elif isinstance(value, ast.Call):
        yield from _called(value, function, project, rounds)
    elif isinstance(value, ast.Name):
        yield from _named(value, function, project, rounds)


def _called(value: ast.Call, function: Function, project: Project, rounds: int) -> Iterator[Unpicklable]:
    name = project.name(value.func, function)
    if name in _OPENS:
        what = "an open file" if name == "open" else f"an open {name}"
        yield Unpicklable(value, function, what, "hand over the path; the process opens it itself")
    elif name in ("functools.partial", "torchvision.transforms.Compose", "torchvision.transforms.Lambda"):
        for argument in (*value.args, *(one.value for one in value.keywords)):
            yield from unpicklable(argument, function, project, rounds - 1)


def _named(value: ast.Name, function: Function, project: Project, rounds: int) -> Iterator[Unpicklable]:
    scope: Function | None = function
    while scope is not None and scope.name != "<module>":
        inner = [one for one in project.functions_in(project.file_with(scope)) if one.outer is scope
                 and one.owner is None and one.name.rpartition(".")[2] == value.id]  # fmt: skip
        for one in inner[:1]:
            yield Unpicklable(one.syntax, scope, f"{value.id}(), defined inside a function,",
                              "define it at the top of a module")  # fmt: skip
        if value.id in scope.assigned or value.id in scope.parameters or inner:
            break
        scope = scope.outer
    if scope is None:
        return
    values = scope.assigned.get(value.id, [])
    if len(values) == 1:
        yield from unpicklable(values[0], scope, project, rounds - 1)
    for node in scope.own_nodes:  # args.logbook = open(...)
        if isinstance(node, ast.Assign) and any(_is_attribute_of(one, value.id) for one in node.targets):
            yield from unpicklable(node.value, scope, project, 0)


def _is_attribute_of(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == name


def inside_dataset(
    value: ast.expr | None, function: Function, project: Project, rounds: int = _ROUNDS
) -> Iterator[Unpicklable]:
    """Yields what the arguments of a data set's construction hold, where its __init__ keeps them as they are."""
    if rounds < 0 or value is None:
        return
    if isinstance(value, ast.Name):
        scope: Function | None = function
        while scope is not None and value.id not in scope.assigned and value.id not in scope.parameters:
            scope = scope.outer
        if scope is None:
            return
        for one in scope.assigned.get(value.id, ())[:3]:
            yield from inside_dataset(one, scope, project, rounds - 1)
        if value.id in scope.parameters and value.id not in scope.assigned:
            for given, caller in list(project.arguments(value.id, scope))[:4]:
                yield from inside_dataset(given, caller, project, rounds - 1)
    elif isinstance(value, ast.Call):
        for target in project.targets(value, function):
            if target.name.endswith("__init__"):
                yield from _kept(value, target, function, project)
            else:
                for node in target.nodes_of(ast.Return):
                    if isinstance(node, ast.Return) and node.value is not None:
                        yield from inside_dataset(node.value, target, project, rounds - 1)


def _kept(call: ast.Call, init: Function, function: Function, project: Project) -> Iterator[Unpicklable]:
    given = dict(zip(init.parameters[1:], call.args, strict=False))
    given |= {one.arg: one.value for one in call.keywords if one.arg is not None}
    for node in init.nodes_of(ast.Assign):
        if isinstance(node, ast.Assign) and any(_is_attribute_of(one, "self") for one in node.targets):
            if isinstance(node.value, ast.Name) and node.value.id in given:
                yield from unpicklable(given[node.value.id], function, project)
            elif isinstance(node.value, (ast.Lambda, ast.Call)):
                yield from unpicklable(node.value, init, project, 0)
