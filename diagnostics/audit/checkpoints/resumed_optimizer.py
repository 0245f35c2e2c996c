"""Where the state of an optimizer is taken out of a checkpoint: by itself, in a function, as one part of many. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import given
from diagnostics.static.program.project import Project

_POSITION = re.compile(r"epoch|step|iter|update", re.IGNORECASE)
_LOADS = re.compile(r"^(?:load|restore|resume)")
_DEPTH = 2


@dataclass(frozen=True, slots=True)
class RestoredOptimizer:
    """`node` restores the state, in `where`; `inside` is the function that reads the checkpoint."""

    node: ast.Call
    where: Function
    inside: Function


def restored(optimizer: str, function: Function, project: Project, depth: int = _DEPTH) -> RestoredOptimizer | None:
    """Returns where the state of what a function calls `optimizer` comes back."""
    scopes = [function]
    if optimizer.startswith("self."):
        kind = project.class_of(function)
        scopes = [one for one in project.functions_in(function.source) if project.class_of(one) is kind]
    for scope in scopes:
        for call in (one for one in scope.nodes_of(ast.Call) if isinstance(one, ast.Call)):
            if _is_load_of(call, optimizer):
                return RestoredOptimizer(call, scope, scope)
            found = next(_by_others(call, optimizer, scope, project, depth), None)
            if found is not None:
                return found
    return None


def names_position(state: RestoredOptimizer, project: Project) -> bool:
    """Whether the number of an epoch or a step is read out of a checkpoint as well: the run goes on from there."""
    scopes = [state.inside, state.where]
    return any(_POSITION.search(key) for one in scopes for key in _keys(one, project))


def _keys(function: Function, project: Project) -> Iterator[str]:
    """Yields the keys of what a function reads out of tables: `state["epoch"]`, `state.get("step", 0)`."""
    for node in function.nodes_of((ast.Subscript, ast.Call)):
        key = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            key = node.slice
        elif isinstance(node, ast.Call) and last_name(node.func) in ("get", "pop") and node.args:
            key = node.args[0]
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def _is_load_of(call: ast.Call, name: str) -> bool:
    return last_name(call.func) == "load_state_dict" and ast.unparse(call.func) == f"{name}.load_state_dict"


def _by_others(
    call: ast.Call, optimizer: str, function: Function, project: Project, depth: int
) -> Iterator[RestoredOptimizer]:
    """Yields where what a call gives its optimizer to restores it."""
    passed = [*call.args, *(one.value for one in call.keywords)]
    direct = any(ast.unparse(one) == optimizer for one in passed if isinstance(one, (ast.Name, ast.Attribute)))
    parts = any(_is_part(one, optimizer, function) for one in passed)
    if not direct and not parts:
        return
    if parts and _LOADS.search(last_name(call.func)):
        yield RestoredOptimizer(call, function, function)
    for target in project.targets(call, function) if depth else ():
        names = [key for key, value in given(call, target.parameters[target.implied :])
                 if ast.unparse(value) == optimizer]  # fmt: skip
        for name in names:
            found = restored(name, target, project, depth - 1)
            if found is not None:
                yield RestoredOptimizer(call, function, found.inside)
    for kind in project.kinds(call, function) if parts else ():
        for method in (project.method(kind, name) for name in ("load_state_dict", "load", "restore")):
            if method is not None and _loads_each(method):
                yield RestoredOptimizer(call, function, method)


def _is_part(value: ast.expr, optimizer: str, function: Function) -> bool:
    """Whether an expression is a table of parts that has the optimizer, and no more than names of them."""
    tables = [value, *(function.assigned.get(value.id, ())[:2] if isinstance(value, ast.Name) else ())]
    return any(
        isinstance(one, ast.Dict) and any(ast.unparse(each) == optimizer for each in one.values) for one in tables
    )


def _loads_each(method: Function) -> bool:
    """Whether a method restores whatever parts its object has, one by one."""
    for loop in method.nodes_of(ast.For):
        for node in walk(loop):
            if isinstance(node, ast.Call) and last_name(node.func) == "load_state_dict":
                return True
    return False
