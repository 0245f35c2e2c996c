"""The branches, loops and handlers around a statement of a function, and which of them it leaves."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.functions import Function
from diagnostics.static.program.project_file import ProjectFile

_ARMS = ("body", "orelse", "handlers", "finalbody")
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def around(node: ast.AST, function: Function, file: ProjectFile) -> Iterator[tuple[ast.AST, str]]:
    """Yields the branches, loops and handlers around a node, and in which part of each it is."""
    outer = file.parents.get(node)
    while outer is not None and node is not function.syntax:
        if isinstance(outer, (ast.If, ast.For, ast.While, ast.Try, ast.ExceptHandler, ast.IfExp)):
            arm = next((name for name in _ARMS if any(node is one for one in _parts(outer, name))), "")
            yield outer, arm
        node, outer = outer, file.parents.get(outer)


def _parts(node: ast.AST, name: str) -> list[ast.AST]:
    held = getattr(node, name, [])
    return held if isinstance(held, list) else [held]


def climb(node: ast.AST, new: ast.AST, file: ProjectFile) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yields (part, what is around it) from a node to what it has in common with another one."""
    common = {id(new)}
    outer = file.parents.get(new)
    while outer is not None:
        common.add(id(outer))
        outer = file.parents.get(outer)
    outer = file.parents.get(node)
    while outer is not None and id(outer) not in common:
        yield node, outer
        node, outer = outer, file.parents.get(outer)


def leaves(block: ast.AST, part: ast.AST) -> bool:
    """Whether a block leaves its function or loop behind one of its parts."""
    for name in _ARMS:
        statements = _parts(block, name)
        at = next((number for number, one in enumerate(statements) if one is part), None)
        if at is not None:
            return any(isinstance(one, _LEAVES) for one in statements[at:])
    return False
