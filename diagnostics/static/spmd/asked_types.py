"""What kind of object a function asks for before it makes ranks meet: `if isinstance(model, FSDP): barrier()`. Pure.

Such a save meets nobody for a plain model, so that rank 0 may call it alone. Which kind comes is said by the call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

_HOMES = ("torch.distributed.fsdp.", "torch.distributed.tensor.", "torch.distributed._tensor.", "fairscale.nn.")
MOST_DEPTH = 3  # functions and names between a test and its isinstance()


def asks_for_sharded(node: ast.AST, function: Function, project: Project) -> bool:
    """Whether a node of a function runs only where an object is of a class that shards: FSDP, FSDPModule, DTensor."""
    return any(_asks(test, function, project, MOST_DEPTH) for test in _held(node, function, project))


def _held(node: ast.AST, function: Function, project: Project) -> Iterator[ast.expr]:
    """Yields the tests that hold where a node runs: around it, and before it those without which a function ends."""
    parents = project.file_with(function).parents
    inner, around = node, parents.get(node)
    while around is not None and inner is not function.syntax:
        if isinstance(around, ast.If) and inner is not around.test:
            negated = isinstance(around.test, ast.UnaryOp) and isinstance(around.test.op, ast.Not)
            if (inner in around.body) is not negated:
                yield around.test
        block = next((one for name in ("body", "orelse") if isinstance(one := getattr(around, name, None), list)
                      and inner in one), [])  # fmt: skip
        for before in block[: block.index(inner)] if block else ():
            test = before.test if isinstance(before, ast.If) and isinstance(before.body[-1], ast.Return) else None
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                yield test.operand
        inner, around = around, parents.get(around)


def _asks(test: ast.expr, function: Function, project: Project, depth: int) -> bool:
    """Whether a test comes down to isinstance() with such a class, through names and functions of the project."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return all(_asks(one, function, project, depth) for one in test.values)
    for node in walk(test):
        if isinstance(node, ast.Call) and last_name(node.func) == "isinstance" and len(node.args) == 2:
            if any(_is_sharded(one, function, project) for one in walk(node.args[1])):
                return True
        elif depth and isinstance(node, ast.Call):
            targets = project.targets(node, function)
            if targets and all(_answers(one, project, depth - 1) for one in targets):
                return True
        elif depth and isinstance(node, ast.Name) and node.id not in function.parameters:
            values = [one for one in function.assigned.get(node.id, ()) if not _is_false(one)]
            if values and all(_asks(one, function, project, depth - 1) for one in values):
                return True
    return False


def _answers(function: Function, project: Project, depth: int) -> bool:
    """Whether what a function returns comes down to isinstance() with such a class."""
    returned = [one for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return) and one.value is not None]
    return any(
        _asks(one.value, function, project, depth) for one in returned if one.value is not None
    ) or any(
        isinstance(one.value, ast.Constant) and one.value.value is True
        and any(_asks(test, function, project, depth) for test in _held(one, function, project))
        for one in returned
    )  # fmt: skip


def _is_sharded(node: ast.AST, function: Function, project: Project) -> bool:
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    name = project.name(node, function)
    return name.startswith(_HOMES) and name.rpartition(".")[2][:1].isupper()


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value
