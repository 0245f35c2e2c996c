"""Containers of which each rank fills only its own place: `lengths[rank] += n`, never exchanged. Pure, bounded.

What is read off such a container, its smallest entry or the place of it, is something else on every rank.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.agent.shared import operations
from diagnostics.static.dataflow.partial_evaluation import ConcreteEvaluator
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.collective_arguments import operation_call

MOST_STEPS = 40
_CHANGES = ("update", "append", "extend", "setdefault", "add")


@dataclass(frozen=True, slots=True, eq=False)
class PerRankSlot:
    """The statement that fills the rank's own place, and the exchange that some rounds skip, where there is one."""

    function: Function
    store: ast.AST
    skipped: ast.Call | None = None
    skipped_in: Function | None = None


def own_place(value: ast.expr, function: Function, project: Project) -> PerRankSlot | None:
    """Returns the container behind a value that only its own rank knows, None where none is seen."""
    for part, where in _origins(value, function, project):
        if isinstance(part, ast.Name) and part.id in where.assigned:
            found = _of_local(part.id, where, project)
        elif isinstance(part, ast.Attribute) and last_name(part.value) == "self":
            found = _of_attribute(part, where, project)
        else:
            continue
        if found is not None:
            return found
    return None


def _origins(value: ast.expr, function: Function, project: Project) -> Iterator[tuple[ast.expr, Function]]:
    """Yields what a value is computed from, through names, parameters, returns and what containers are filled with."""
    waiting: list[tuple[ast.expr, Function]] = [(value, function)]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_STEPS:
        one, where = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one, where
        if isinstance(one, ast.Name):
            waiting += _of_name(one, where, project)
        elif isinstance(one, ast.Call):
            if operation_call(one, where, project) is not None or "gather" in last_name(one.func):
                continue
            for target in project.targets(one, where):
                waiting += [(node.value, target) for node in target.nodes_of(ast.Return)
                            if isinstance(node, ast.Return) and node.value is not None]  # fmt: skip
            if not project.targets(one, where):
                waiting += [(child, where) for child in _parts(one)]
        else:
            waiting += [(child, where) for child in _parts(one)]


def _parts(value: ast.AST) -> list[ast.expr]:
    found = []
    for child in children(value):
        if isinstance(child, ast.expr):
            found.append(child)
        elif isinstance(child, (ast.comprehension, ast.keyword)):
            found += _parts(child)
    return found


def _of_name(name: ast.Name, function: Function, project: Project) -> list[tuple[ast.expr, Function]]:
    scope: Function | None = function
    while scope is not None and scope.name != "<module>":
        if name.id in scope.assigned:
            made = [(one, scope) for one in scope.assigned[name.id][:4]]
            return made + [
                (argument, scope)
                for node in scope.nodes_of(ast.Call)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES
                and isinstance(node.func.value, ast.Name) and node.func.value.id == name.id
                for argument in node.args
            ]  # fmt: skip
        if name.id in scope.parameters:
            return list(project.arguments(name.id, scope))[:4]
        scope = scope.outer
    return []


def _of_local(name: str, function: Function, project: Project) -> PerRankSlot | None:
    stores = [node for node in function.own_nodes if _store_of(node, name) is not None]
    own = [node for node in stores if _is_own(_store_of(node, name), function, project)]
    if not own or len(own) != len(stores):
        return None
    shared = [
        node
        for node in function.nodes_of(ast.Call)
        if isinstance(node, ast.Call) and _fills(node, name, function, project)
    ]
    if not shared:
        return PerRankSlot(function, own[0])
    file = project.file_with(function)
    for call in shared:  # an exchange that only some rounds make
        test = file.parents.get(file.parents[call])
        if not isinstance(test, ast.If) or any(isinstance(node, ast.Is) for node in walk(test.test)):
            return None
        if (
            "distributed" in ast.unparse(test.test)
            or "world" in ast.unparse(test.test)
            or "initialized" in ast.unparse(test.test)
        ):
            return None
    return PerRankSlot(function, own[0], shared[0], function)


def _of_attribute(value: ast.Attribute, function: Function, project: Project) -> PerRankSlot | None:
    kind = project.class_of(function)
    methods = project.functions_seeing(kind) if kind is not None else ()
    text = ast.unparse(value)
    stores = [(node, one) for one in methods for node in one.own_nodes if _store_of(node, text) is not None]
    if not stores or any(isinstance(node, ast.Call) and _fills(node, text, one, project)
                         for one in methods for node in one.own_nodes):  # fmt: skip
        return None
    if all(_is_own(_store_of(node, text), one, project) for node, one in stores):
        return PerRankSlot(stores[0][1], stores[0][0])
    return None


def _store_of(node: ast.AST, text: str) -> ast.expr | None:
    """Returns the index under which a statement stores into a container of this name."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        if isinstance(target, ast.Subscript) and ast.unparse(target.value) == text:
            return target.slice
    return None


def _is_own(index: ast.expr | None, function: Function, project: Project) -> bool:
    return index is not None and ConcreteEvaluator(project).differs(index, function) is not None


def _fills(call: ast.Call, text: str, function: Function, project: Project) -> bool:
    found = operation_call(call, function, project)
    named = found.op if found is not None else last_name(call.func)
    return (named in operations.SHARED or "reduce" in named or "gather" in named) and any(
        ast.unparse(one).startswith(text) for one in call.args
    )
