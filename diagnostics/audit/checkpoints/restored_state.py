"""What a function takes out of a checkpoint, itself and through what it calls: for rules about when it does that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

ARMS = ("body", "orelse", "handlers", "finalbody")
DEPTH = 2


@dataclass(frozen=True, slots=True)
class Restored:
    """`text` is restored at `node`, which may be a call of what does it; `sometimes`: that may find no checkpoint."""

    text: str
    node: ast.expr | ast.stmt
    inner: ast.AST
    where: Function
    sometimes: bool


def restores(function: Function, project: Project, depth: int) -> Iterator[Restored]:
    """Yields what a function restores of a checkpoint, itself and through what it calls."""
    calls = [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]
    loads = [one for one in calls if project.name(one.func, function) == "torch.load"]
    sometimes = any(is_conditional(one, function, project) for one in loads)
    for node in function.nodes_of((ast.Call, ast.Assign)):
        if isinstance(node, ast.Assign):
            text = ast.unparse(node.targets[0])
            if "." in text and len(node.targets) == 1 and is_loaded(node.value, function, project):
                yield Restored(text, node, node, function, sometimes)
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "load_state_dict"
        ):
            if node.args and is_loaded(node.args[0], function, project):
                yield Restored(ast.unparse(node.func.value), node, node, function, sometimes)
        elif isinstance(node, ast.Call) and depth:
            for target in project.targets(node, function):
                names = names_given(node, target)
                for one in restores(target, project, depth - 1) if names else ():
                    first, dot, rest = one.text.partition(".")
                    if first in names:
                        yield Restored(f"{names[first]}{dot}{rest}", node, one.inner, one.where, one.sometimes)


def names_given(call: ast.Call, target: Function) -> dict[str, str]:
    """Returns what the parameters of a function are called by who calls it."""
    given = {name: ast.unparse(one) for name, one in zip(target.parameters[target.implied :], call.args, strict=False)}
    given.update({one.arg: ast.unparse(one.value) for one in call.keywords if one.arg})
    if target.implied and isinstance(call.func, ast.Attribute):
        base = ast.unparse(call.func.value)
        given[target.parameters[0]] = "self" if base == "super()" else base
    return given


def is_loaded(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a value is a part of what torch.load gave, or made of one."""
    for node in walk(value):
        base = node.value if isinstance(node, ast.Subscript) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            base = node.func.value
        if isinstance(node, ast.Call) and project.name(node.func, function) == "torch.load" and node is not value:
            return True
        while isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Name) and any(
            isinstance(one, ast.Call) and project.name(one.func, where) == "torch.load"
            for one, where in origins(base, function, project)
        ):
            return True
    return False


def is_conditional(node: ast.AST, function: Function, project: Project) -> bool:
    """Whether something decides if a node of a function runs."""
    file = project.file_with(function)
    if any(isinstance(outer, (ast.If, ast.Try)) for outer, _ in around(node, function, file)):
        return True
    returns = (one for one in function.nodes_of(ast.Return) if isinstance(one, ast.Return))
    return any(position(one) < position(node) for one in returns)


def around(node: ast.AST, function: Function, file: ProjectFile) -> Iterator[tuple[ast.AST, str]]:
    """Yields the branches, loops and handlers around a node, and in which part of each it is."""
    outer = file.parents.get(node)
    while outer is not None and node is not function.syntax:
        if isinstance(outer, (ast.If, ast.For, ast.While, ast.Try, ast.ExceptHandler, ast.IfExp)):
            arm = next((name for name in ARMS if any(node is one for one in parts_in(outer, name))), "")
            yield outer, arm
        node, outer = outer, file.parents.get(outer)


def parts_in(node: ast.AST, name: str) -> list[ast.AST]:
    """Returns what stands in one part of a statement."""
    held = getattr(node, name, [])
    return held if isinstance(held, list) else [held]


def position(node: ast.AST) -> tuple[int, int]:
    """Returns where a node begins, in the order of its file."""
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
