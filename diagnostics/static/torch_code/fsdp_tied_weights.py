"""Weights that two modules share and that are put into two units of FSDP. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.module_classes import class_tree, own_attribute

_WRAPS = frozenset(["FullyShardedDataParallel", "fully_shard"])


@dataclass(frozen=True, slots=True)
class Tied:
    """The later of two wraps, the first, and where their weights are made one."""

    second: ast.Call
    first: ast.Call
    tie: ast.Assign
    home: ProjectFile


def tied_units(function: Function, project: Project) -> Iterator[Tied]:
    """Yields the pairs of a model's parts that one function wraps by themselves although they share a weight."""
    wraps = dict(_wrapped(function, project))
    for (owner, name), call in wraps.items():
        for (other, earlier), first in wraps.items():
            if owner == other and name != earlier and first.lineno < call.lineno:
                found = _tie(call.args[0], name, earlier, function, project)
                if found is not None:
                    yield Tied(call, first, *found)


def _wrapped(function: Function, project: Project) -> Iterator[tuple[tuple[str, str], ast.Call]]:
    for node in function.own_nodes:
        part = node.args[0] if isinstance(node, ast.Call) and node.args else None
        if not isinstance(node, ast.Call) or not isinstance(part, ast.Attribute):
            continue
        if project.name(node.func, function).rpartition(".")[2] in _WRAPS:
            yield (ast.unparse(part.value), part.attr), node


def _tie(
    part: ast.expr, name: str, other: str, function: Function, project: Project
) -> tuple[ast.Assign, ProjectFile] | None:
    """Returns `self.head.weight = self.embed.weight` in the one class that the model may be."""
    kinds = list(project.kinds(part.value, function)) if isinstance(part, ast.Attribute) else []
    known = class_tree(project).by_syntax.get(id(kinds[0])) if len({id(one) for one in kinds}) == 1 else None
    if known is None:
        return None
    for node in walk(known.syntax):
        # What is tied under a condition may be wrapped under its opposite.
        always = isinstance(known.file.parents.get(node), (ast.FunctionDef, ast.ClassDef))
        if always and isinstance(node, ast.Assign) and len(node.targets) == 1:
            sides = [own_attribute(one.value) if isinstance(one, ast.Attribute) and one.attr == "weight" else ""
                     for one in (node.targets[0], node.value)]  # fmt: skip
            if sorted(sides) == sorted([name, other]):
                return node, known.file
    return None
