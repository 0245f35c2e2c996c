"""Where a value goes: followed through names, attributes, arguments, what functions give back, fields, wrappers. Pure.

The other way round than `value_origins.py`: from where something is made to all expressions that may be it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from diagnostics.static.dataflow.value_origins import Origin
from diagnostics.static.program.functions import Function, last_name, paired
from diagnostics.static.program.implicit_calls import is_property
from diagnostics.static.program.project import Project

_MOST = 120
# What gives back its first argument, or goes through it.
_KEEPS = frozenset(["enumerate", "tqdm", "iter", "track", "prepare", "compile", "cycle", "islice", "trange"])
_MOVES = frozenset(["to", "cuda", "cpu", "train", "eval", "requires_grad_", "half", "float", "bfloat16"])


class _Loads:
    """Where names and attributes are read."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._attributes: dict[str, list[tuple[ast.Attribute, Function]]] = defaultdict(list)
        self._names: dict[str, list[tuple[ast.Name, Function]]] = defaultdict(list)
        for function in project.functions:
            for node in function.nodes_of((ast.Attribute, ast.Name)):
                if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                    self._attributes[node.attr].append((node, function))
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    self._names[node.id].append((node, function))

    def of_attribute(self, name: str, key: str) -> Iterator[Origin]:
        """Yields the reads of an attribute of one class."""
        for node, function in self._attributes.get(name, ()):
            if self._project.attribute_key(node, function) == key:
                yield node, function

    def of_getter(self, getter: Function) -> Iterator[Origin]:
        """Yields the reads that run a property."""
        for node, function in self._attributes.get(getter.name.rpartition(".")[2], ()):
            if any(one is getter for one in self._project.getters(node, function)):
                yield node, function

    def of_name(self, name: str, scope: Function) -> Iterator[Origin]:
        """Yields the reads of a name of a function, also in functions inside it, and in files that import it."""
        for node, function in self._names.get(name, ()):
            if self._scope_of(name, function) is scope or (
                scope.name == "<module>" and self._project.imported(name, function.file) == (scope.file, name)
            ):
                yield node, function

    def _scope_of(self, name: str, function: Function) -> Function | None:
        scope: Function | None = function
        while scope is not None and name not in scope.assigned and name not in scope.parameters:
            scope = scope.outer
        return scope


def uses(value: ast.expr, function: Function, project: Project) -> tuple[Origin, ...]:
    """Returns the expressions that may be this value, itself first, each with the function that it stands in."""
    loads = project.fact(_Loads)
    found: dict[int, Origin] = {id(value): (value, function)}
    waiting = [(value, function)]
    while waiting and len(found) < _MOST:
        for one, where in _next(*waiting.pop(0), loads, project):
            if id(one) not in found:
                found[id(one)] = one, where
                waiting.append((one, where))
    return tuple(found.values())


def _next(value: ast.expr, function: Function, loads: _Loads, project: Project) -> Iterator[Origin]:
    parents = project.file_with(function).parents
    around = parents.get(value)
    match around:
        case ast.Assign(targets=targets, value=whole):
            for target in targets:
                for name, part in paired(target, whole):
                    if part is value:
                        yield from _stored(name, function, loads, project)
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            yield from _stored(target, function, loads, project)
            if isinstance(around, ast.NamedExpr):
                yield around, function
        case ast.withitem(optional_vars=ast.expr() as target):
            yield from _stored(target, function, loads, project)
        case ast.Return():
            yield from _given_back(function, loads, project)
        case ast.Lambda():
            yield from ((call, caller) for call, caller in project.callers(project.by_syntax[id(around)]))
        case ast.IfExp(test=test) if value is not test:
            yield around, function
        case ast.BoolOp():
            yield around, function
        case ast.Tuple(elts=parts):
            yield from _unpacked(around, [one is value for one in parts].index(True), function, loads, project)
        case ast.Attribute(attr=attr) if attr in _MOVES and isinstance(parents.get(around), ast.Call):
            yield parents[around], function  # type: ignore[misc]
        case ast.keyword():
            call = parents.get(around)
            if isinstance(call, ast.Call):
                yield from _passed(call, value, function, loads, project)
        case ast.Call() if value is not around.func:
            yield from _passed(around, value, function, loads, project)


def _stored(target: ast.expr, function: Function, loads: _Loads, project: Project) -> Iterator[Origin]:
    if isinstance(target, ast.Name):
        yield from loads.of_name(target.id, function)
    elif isinstance(target, ast.Attribute) and (key := project.attribute_key(target, function)):
        yield from loads.of_attribute(target.attr, key)


def _given_back(function: Function, loads: _Loads, project: Project) -> Iterator[Origin]:
    if is_property(function):
        yield from loads.of_getter(function)
    yield from project.callers(function)


def _unpacked(packed: ast.Tuple, at: int, function: Function, loads: _Loads, project: Project) -> Iterator[Origin]:
    """Yields what callers call the item of a tuple that a function gives back."""
    if not isinstance(project.file_with(function).parents.get(packed), ast.Return):
        return
    for call, caller in project.callers(function):
        around = project.file_with(caller).parents.get(call)
        for target in around.targets if isinstance(around, ast.Assign) else ():
            if isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(packed.elts):
                yield from _stored(target.elts[at], caller, loads, project)


def _passed(call: ast.Call, value: ast.expr, function: Function, loads: _Loads, project: Project) -> Iterator[Origin]:
    if last_name(call.func) in _KEEPS:
        yield call, function
    for key, given in project.given_fields(call, function):
        if given is value:
            yield from loads.of_attribute(key.partition(".")[2], key)
    for target in project.targets(call, function):
        name = next((one.arg for one in call.keywords if one.value is value), None)
        at = [one is value for one in call.args].index(True) if name is None and value in call.args else -1
        if name is None and 0 <= at < len(target.parameters) - target.implied:
            name = target.parameters[at + target.implied]
        if name is not None and name in target.parameters:
            yield from loads.of_name(name, target)
