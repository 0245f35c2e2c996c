"""Whether code runs on some ranks only, and whether a value follows from the rank. Pure.

For rules that ask "is this guarded?" whatever may be a guard is one (`is_rank_dependent`, `is_rank_guarded`); for those
that accuse, what a collective made the same on every rank follows from none (`differs_by_rank`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from diagnostics.static.dataflow import rank_words
from diagnostics.static.dataflow.agreed_values import AgreedValues
from diagnostics.static.dataflow.taint_sources import RANK, source_of
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.own_nodes import Callable_, statements_of
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

_DEPTH = 3
_MOST = 6
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def is_rank_dependent(value: ast.AST | None, function: Function, project: Project, depth: int = _DEPTH) -> bool:
    """Whether a value may differ by the rank, through names, attributes and functions of the project."""
    if value is None:
        return False
    return any(_is_rank(node, function, project, depth) for node in walk(value))


def _is_rank(node: ast.AST, function: Function, project: Project, depth: int) -> bool:
    if source_of(node) == RANK:
        return True
    named = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    if named and rank_words.MAY_NAME_RANK.search(named) and not rank_words.NOT_A_RANK.search(named):
        return True
    if depth <= 0:
        return False
    if isinstance(node, ast.Name):
        return any(
            is_rank_dependent(one, scope, project, depth - 1) or _set_by_rank(one, scope, project)
            for one, scope in reaching_values(node, function, project)
        )
    if isinstance(node, ast.Attribute):
        return any(
            is_rank_dependent(one, where, project, depth - 1) or _set_by_rank(one, where, project)
            for one, where in project.attributes.get(node.attr, ())[:_MOST]
        ) or any(
            is_rank_dependent(one.value, getter, project, depth - 1)
            for getter in project.by_name.get(node.attr, ())[:_MOST]
            if _is_property(getter)
            for one in getter.nodes_of(ast.Return)
            if isinstance(one, ast.Return)
        )
    if isinstance(node, ast.Call):
        return any(
            is_rank_dependent(one.value, target, project, depth - 1)
            for target in project.targets(node, function)
            for one in target.nodes_of(ast.Return)
            if isinstance(one, ast.Return)
        )
    return False


def _is_property(function: Function) -> bool:
    decorators = getattr(function.syntax, "decorator_list", ())
    return function.owner is not None and any(last_name(one) in ("property", "cached_property") for one in decorators)


def reaching_values(name: ast.Name, function: Function, project: Project) -> Iterator[tuple[ast.expr, Function]]:
    """Yields what a name is assigned, or passed for, with the function where that is."""
    scope: Function | None = function
    while scope is not None:
        if name.id in scope.assigned:
            for one in _bound(name, scope)[:_MOST]:
                yield from _parts(name.id, one, scope, project)
            for over in project.gone_through(scope).get(name.id, ())[:2]:
                yield from list(project.items(over, scope, 2))[:_MOST]
            return
        if name.id in scope.parameters:
            yield from list(project.arguments(name.id, scope))[:_MOST]
            return
        scope = scope.outer
    yield from project.imported_values(name.id, function)


def _bound(name: ast.Name, scope: Function) -> list[ast.expr]:
    """Returns what a name may hold where it is read: one value alone where the function sets it behind all others."""
    values = scope.assigned[name.id]
    flat = [one for one in statements_of(scope.syntax) if isinstance(one, ast.Assign)]
    last = max((one.value for one in flat if any(one.value is each for each in values)
                and one.lineno < name.lineno), key=lambda one: one.lineno, default=None)  # fmt: skip
    alone = last is not None and all(one.lineno <= last.lineno for one in values)
    return [last] if last is not None and alone else values


def _parts(
    name: str, value: ast.expr, scope: Function, project: Project
) -> Iterator[tuple[ast.expr, Function]]:  # fmt: skip
    """Yields what a name is given; of `seeds, order = draw()` that part of what the project's function returns."""
    target = next((one.targets[0] for one in scope.nodes_of(ast.Assign)
                   if isinstance(one, ast.Assign) and one.value is value), None)  # fmt: skip
    names = [getattr(one, "id", "") for one in target.elts] if isinstance(target, ast.Tuple) else []
    returned = [
        (node.value, made)
        for made in (project.targets(value, scope) if isinstance(value, ast.Call) and name in names else ())
        for node in made.nodes_of(ast.Return)
        if isinstance(node, ast.Return)
    ]
    parts = [
        (one.elts[names.index(name)], made)
        for one, made in returned
        if isinstance(one, ast.Tuple) and len(one.elts) == len(names)
    ]
    if parts and len(parts) == len(returned):
        yield from parts
    else:
        yield value, scope


def _set_by_rank(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether an assignment stands under a condition on the rank."""
    return any(
        is_rank_dependent(test, function, project, 0)
        for test in conditions(value, function, project.file_with(function))
    )


def conditions(node: ast.AST, function: Function, file: ProjectFile) -> Iterator[ast.expr]:
    """Yields the tests that decide whether a node of a function runs, also those that leave it before."""
    child, parent = node, file.parents.get(node)
    while parent is not None and child is not function.syntax:
        if isinstance(parent, (ast.If, ast.While, ast.IfExp)) and child is not parent.test:
            yield parent.test
        elif isinstance(parent, ast.BoolOp):
            yield from (one for one in parent.values if one is not child)
        elif isinstance(parent, ast.match_case) and parent.guard is not None:
            yield parent.guard
        for block in _blocks(parent):
            if child in block:
                yield from _left_before(block[: block.index(child)])
        child, parent = parent, file.parents.get(parent)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _left_before(statements: list[ast.stmt]) -> Iterator[ast.expr]:
    for one in statements:
        if isinstance(one, ast.If) and any(isinstance(part[-1], _LEAVES) for part in (one.body, one.orelse) if part):
            yield one.test


def differs_by_rank(value: ast.AST | None, function: Function, project: Project, depth: int = _DEPTH) -> bool:
    """Whether a value follows from the rank, and no collective made it the same on every rank since.

    For rules that accuse; what only has a name as ranks have is none here, and an attribute is that of its own class.
    """
    if value is None:
        return False
    if isinstance(value, ast.expr) and project.fact(AgreedValues).holds(value, function):
        return False
    if source_of(value) == RANK:
        return True
    found: Iterable[tuple[ast.expr | None, Function]] = ()
    if depth <= 0:
        found = ()
    elif isinstance(value, ast.Name):
        found = reaching_values(value, function, project)
    elif isinstance(value, ast.Attribute):
        found = project.attribute_values(value, function) or project.values_by_name(value)[:_MOST]
    elif isinstance(value, ast.Call):
        found = (
            (one.value, target)
            for target in project.targets(value, function)
            for one in target.nodes_of(ast.Return)
            if isinstance(one, ast.Return)
        )
    return any(
        differs_by_rank(one, where, project, depth - 1)
        or (not isinstance(value, ast.Call) and one is not None and _set_by_rank(one, where, project))
        for one, where in found
    ) or any(differs_by_rank(one, function, project, depth) for one in children(value))


def is_rank_guarded(node: ast.AST, function: Function, project: Project, depth: int = _DEPTH) -> bool:
    """Whether a node may run on some ranks only: by a condition, a decorator, or because all callers are guarded."""
    file = project.file_with(function)
    if any(is_rank_dependent(one, function, project, 2) for one in conditions(node, function, file)):
        return True
    scope: Function | None = function
    while scope is not None:
        decorators = getattr(scope.syntax, "decorator_list", ())
        if any(rank_words.MAY_NAME_RANK.search(ast.unparse(one)) for one in decorators):
            return True
        scope = scope.outer
    if depth <= 0 or function.name == "<module>":
        return False
    callers = project.callers(function)
    return bool(callers) and all(is_rank_guarded(call, caller, project, depth - 1) for call, caller in callers[:_MOST])


def enclosing(node: ast.AST, kinds: type[ast.AST] | tuple[type[ast.AST], ...], file: ProjectFile) -> ast.AST | None:
    """Returns the nearest node of some kinds around one, within its function."""
    parent = file.parents.get(node)
    while parent is not None and not isinstance(parent, (*Callable_.__args__, ast.ClassDef)):
        if isinstance(parent, kinds):
            return parent
        parent = file.parents.get(parent)
    return parent if isinstance(parent, kinds) else None
