"""Names and attributes that a program counts up: their first value says nothing of the later rounds. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project, per_project


def counted_names(function: Function, project: Project) -> frozenset[str]:
    """Returns the names that a function counts up: `n += 1`."""
    return _by_function(project).get(id(function), frozenset())


@per_project
def counted_attributes(project: Project) -> frozenset[str]:
    """Returns the attributes that something in a project counts up: `self.n += 1`."""
    return frozenset(
        one.target.attr
        for function in project.functions
        for one in function.nodes_of(ast.AugAssign)
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Attribute)
    )


@per_project
def _by_function(project: Project) -> Mapping[int, frozenset[str]]:
    found = {}
    for function in project.functions:
        targets: list[ast.expr] = []
        targets += [one.target for one in function.nodes_of(ast.AugAssign) if isinstance(one, ast.AugAssign)]
        targets += [target for one in function.nodes_of(ast.Assign) if isinstance(one, ast.Assign)
                    for target in one.targets if _counts_on(target, one.value)]  # fmt: skip
        names = frozenset(one.id for one in targets if isinstance(one, ast.Name))
        if names:
            found[id(function)] = names
    return found


def _counts_on(target: ast.expr, value: ast.expr) -> bool:
    """Whether an assignment is `n = n + 1`."""
    return (
        isinstance(target, ast.Name) and isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub))
        and isinstance(value.left, ast.Name) and value.left.id == target.id and isinstance(value.right, ast.Constant)
    )  # fmt: skip


def names_set_in_loops(function: Function, project: Project) -> frozenset[str]:
    """Returns the names that a function sets in a loop, or a function in it sets for it."""
    return _set_in_loops(project).get(id(function), frozenset())


@per_project
def attributes_set_later(project: Project) -> frozenset[str]:
    """Returns the attributes that something in a project sets, other than where an object is made."""
    return frozenset(
        target.attr
        for function in project.functions
        if function.name.rpartition(".")[2] not in ("__init__", "__post_init__", "<module>")
        for one in function.nodes_of((ast.Assign, ast.AnnAssign))
        for target in _targets(one)
        if isinstance(target, ast.Attribute)
    )


@per_project
def _set_in_loops(project: Project) -> Mapping[int, frozenset[str]]:
    found: dict[int, frozenset[str]] = {}
    for function in project.functions:
        loops = function.nodes_of((ast.For, ast.AsyncFor, ast.While))
        names = {
            target.id
            for loop in loops
            for statement in getattr(loop, "body", ())
            for one in walk(statement)
            for target in _targets(one)
            if isinstance(target, ast.Name)
        }
        shared = {name for one in function.nodes_of((ast.Global, ast.Nonlocal)) for name in getattr(one, "names", ())}
        if names:
            found[id(function)] = frozenset(names) | found.get(id(function), frozenset())
        outer = function.outer
        if shared and outer is not None:
            found[id(outer)] = found.get(id(outer), frozenset()) | shared
    return found


def _targets(node: ast.AST) -> list[ast.expr]:
    """Returns what an assignment sets, each of a tuple."""
    targets = list(node.targets) if isinstance(node, ast.Assign) else [node.target] if isinstance(
        node, (ast.AnnAssign, ast.NamedExpr)) else []  # fmt: skip
    return [inner for one in targets for inner in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else (one,))]
