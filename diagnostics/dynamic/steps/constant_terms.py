"""Lines that add the number of a loss, and not the loss itself, to what the backward pass begins at. Pure."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import walk

_NUMBERS = ("item", "tolist", "numpy")  # methods that leave the graph
_ADDS = (ast.Add, ast.Sub)


@dataclass(frozen=True, slots=True)
class AddedNumber:
    """One such line: the name of the loss whose number is added, and to what."""

    frame: Frame
    name: str
    target: str


def added_numbers(job: Job, process: JobProcess, names: Collection[str]) -> tuple[AddedNumber, ...]:
    """Returns the lines at which the number of one of these is a term of a loss."""
    found: list[AddedNumber] = []
    for file_name, file in job_sources(job, process):
        nodes = list(walk(file.tree)) if file.tree is not None else []
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        inside = {id(inner) for function in functions for inner in walk(function) if inner is not function}
        alone = [node for node in nodes if id(node) not in inside]
        for own in (alone, *(list(walk(function)) for function in functions)):
            found += [
                AddedNumber(Frame(file=file_name, line=line, function=""), name, target)
                for line, name, target in _added(own, names)
            ]
    return tuple(dict.fromkeys(found))


def _added(nodes: list[ast.AST], names: Collection[str]) -> Iterator[tuple[int, str, str]]:
    losses = _losses(nodes)
    for node in nodes:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, _ADDS) and _name(node.target) in losses:
            terms, target = [*_terms(node.value)], _name(node.target)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and _name(node.targets[0]) in losses:
            terms, target = [*_terms(node.value)], _name(node.targets[0])
            if len(terms) < 2:
                continue
        else:
            continue
        for term in terms:
            for name in _numbers_of(term):
                if name in names and name != target:
                    yield term.lineno, name, target


def _losses(nodes: list[ast.AST]) -> set[str]:
    """Returns the names that a backward pass begins at, and those of which they are made in this function."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
            for given in (node.func.value, *node.args):
                found |= {one.id for one in walk(given) if isinstance(one, ast.Name)}
    made = [
        (_name(node.targets[0]), _names_with_graph(node.value))
        for node in nodes
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    ]
    size = -1
    while size != len(found):
        size = len(found)
        for target, used in made:
            if target in found:
                found |= used
    return found


def _terms(value: ast.expr) -> Iterator[ast.expr]:
    """Yields what a sum is made of."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, _ADDS):
        yield from _terms(value.left)
        yield from _terms(value.right)
    else:
        yield value


def _numbers_of(term: ast.expr) -> set[str]:
    """Returns the names whose number alone is used in a term."""
    numbers: set[str] = set()
    for node in walk(term):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in _NUMBERS:
            numbers |= {one.id for one in walk(node.func.value) if isinstance(one, ast.Name)}
        elif isinstance(node.func, ast.Name) and node.func.id == "float" and node.args:
            numbers |= {one.id for one in walk(node.args[0]) if isinstance(one, ast.Name)}
    return numbers


def _names_with_graph(value: ast.expr) -> set[str]:
    return {one.id for one in walk(value) if isinstance(one, ast.Name)} - _numbers_of(value)


def _name(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else ""
