"""Samples and labels that a program puts into two different random orders. Pure.

Told are two draws of one random state that reorder two arrays in one function, of which one is named as labels are, and
both are used together afterwards. Draws that begin at one seed, one order for both, and two sets that are no pairs (of
which none is named so) are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.ast_walk import walk

_DRAWS = ("permutation", "randperm")
_IN_PLACE = ("shuffle",)
# What may have both begin at one state of the random numbers.
_STATES = re.compile(r"seed|state|^(?:default_rng|RandomState|Random)$", re.IGNORECASE)
_LABELS = re.compile(r"^(?:y|ys|gt)(?:_\w{1,40})?$|(?:^|_)(?:labels?|targets?|classes|answers)(?:_|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reordered:
    """One array, by its name, and the line that gives it a random order of its own."""

    name: str
    line: int


def shuffled_pairs(job: Job, process: JobProcess) -> tuple[tuple[str, str], tuple[Frame, ...]] | None:
    """Returns the names of samples and labels, and the lines that shuffle each; None where nothing does so."""
    for file_name, file in job_sources(job, process):
        nodes = list(walk(file.tree)) if file.tree is not None else []
        for function in (node for node in nodes if isinstance(node, ast.FunctionDef | ast.Module)):
            found = _pair_in(function, nodes)
            if found is not None:
                frames = tuple(Frame(file=file_name, line=one.line, function="") for one in found)
                return (found[0].name, found[1].name), frames
    return None


def _pair_in(function: ast.FunctionDef | ast.Module, nodes: Sequence[ast.AST]) -> tuple[Reordered, Reordered] | None:
    own = [node for node in _own(function) if isinstance(node, ast.stmt)]
    if any(_STATES.search(_name(one)) for node in own for one in walk(node) if isinstance(one, ast.expr)):
        return None
    found = [one for statement in own for one in _reordered(statement)]
    labels = [one for one in found if _LABELS.search(one.name)]
    samples = [one for one in found if not _LABELS.search(one.name)]
    if len(labels) != 1 or len(samples) != 1 or not _are_used_together(samples[0].name, labels[0].name, nodes):
        return None
    return (samples[0], labels[0])


def _own(function: ast.FunctionDef | ast.Module) -> Iterator[ast.AST]:
    """Yields what is in a function and in no function inside of it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting[:0] = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]


def _reordered(statement: ast.stmt) -> Iterator[Reordered]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        indexed = isinstance(value, ast.Subscript) and _calls(value.slice, _DRAWS) and _same(target, value.value)
        drawn = value.args[:1] if isinstance(value, ast.Call) and _name(value.func) in _DRAWS else []
        if indexed or any(_same(target, one) for one in drawn):
            yield Reordered(_name(target), statement.lineno)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if _name(call.func) in _IN_PLACE and len(call.args) == 1 and _name(call.args[0]):
            yield Reordered(_name(call.args[0]), statement.lineno)


def _are_used_together(samples: str, labels: str, nodes: Sequence[ast.AST]) -> bool:
    """Whether both stand in one call or tuple: TensorDataset(x, y), zip(x, y), return x[i], y[i]."""
    for node in nodes:
        parts = node.args if isinstance(node, ast.Call) else node.elts if isinstance(node, ast.Tuple) else []
        names = {_name(one.value if isinstance(one, ast.Subscript) else one) for one in parts}
        if {samples, labels} <= names:
            return True
    return False


def _calls(node: ast.AST, names: Sequence[str]) -> bool:
    return any(isinstance(one, ast.Call) and _name(one.func) in names for one in walk(node))


def _same(one: ast.expr, other: ast.expr) -> bool:
    return bool(_name(one)) and ast.unparse(one) == ast.unparse(other)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
