"""The lines of a forward that leave out a submodule: a branch around it, a return before it, a skipped turn. Pure."""

from __future__ import annotations

import ast

from diagnostics.dynamic.job.job import Case
from diagnostics.dynamic.model.model_classes import Function, Place, class_of, parents
from diagnostics.static.program.ast_walk import walk

_LOOPS = (ast.For, ast.While)


def skipping_lines(case: Case, files: tuple[str, ...], class_name: str, attribute: str) -> tuple[str, ...]:
    """Returns the branches of class `class_name` that decide whether `self.attribute` is used, innermost first.

    Where it is used without a branch, the lines of its use; () where no method uses it.
    """
    found = class_of(case, files, class_name)
    if found is None or not attribute:
        return ()
    file, kind = found
    branches: list[ast.AST] = []
    uses: list[ast.AST] = []
    for function in (node for node in kind.body if isinstance(node, Function) and node.name != "__init__"):
        above = parents(function)
        for use in _uses(function, attribute):
            uses.append(use)
            branches.extend(_around(use, above))
            branches.extend(_before(use, function, above))
    chosen = branches or uses
    return tuple(dict.fromkeys(Place(file=file, node=node).location(case) for node in chosen))


def _uses(function: Function, attribute: str) -> list[ast.AST]:
    return [
        node
        for node in walk(function)
        if isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and not _is_asked_only(node, function)
    ]


def _is_asked_only(node: ast.Attribute, function: Function) -> bool:
    """`if self.gate is not None` asks, it does not use."""
    return any(isinstance(outer, ast.Compare) and node in walk(outer) for outer in walk(function))


def _around(use: ast.AST, above: dict[ast.AST, ast.AST]) -> list[ast.AST]:
    found: list[ast.AST] = []
    inner, outer = use, above.get(use)
    while outer is not None:
        if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer.test:
            found.append(outer)
        if isinstance(outer, _LOOPS):
            found.extend(_skipped_turns(outer))
        if isinstance(outer, ast.comprehension):
            found.extend(outer.ifs)
        inner, outer = outer, above.get(outer)
    return found


def _skipped_turns(loop: ast.For | ast.While) -> list[ast.AST]:
    """Branches in a loop that go on to the next turn or leave, or in which the whole turn's work stands."""
    branches = [node for node in walk(loop) if isinstance(node, ast.If)]
    jumps = [node for node in branches if any(isinstance(inner, (ast.Continue, ast.Break)) for inner in walk(node))]
    if jumps or not isinstance(loop, ast.For) or not isinstance(loop.target, (ast.Name, ast.Tuple)):
        return list(jumps)
    names = {node.id for node in walk(loop.target) if isinstance(node, ast.Name)}
    calls = [
        node
        for node in branches
        for call in walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in names
    ]
    return list(calls)


def _before(use: ast.AST, function: Function, above: dict[ast.AST, ast.AST]) -> list[ast.AST]:
    """Branches that return before the use is reached."""
    statement: ast.AST = use
    while above.get(statement) is not None and above[statement] is not function:
        statement = above[statement]
    return [
        node
        for node in function.body
        if isinstance(node, ast.If)
        and node.lineno < getattr(statement, "lineno", 0)
        and any(isinstance(inner, ast.Return) for inner in walk(node))
    ]
