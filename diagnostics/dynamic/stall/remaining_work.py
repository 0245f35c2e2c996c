"""Whether a program that stands at a line has training left after it, as far as its own file tells. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.source_file import SourceFile

_TRAINS = ("backward", "step", "fit")
_LEVELS = 4  # of functions that call functions that train


def has_work_left(job: Job, own: Sequence[Frame]) -> bool:
    """Whether below the line of any frame, in the function that it is in, something is called that trains."""
    return any(_trains_below(job.sources.file(frame.file), frame.line) for frame in own)


def _trains_below(source: SourceFile, line: int) -> bool:
    if source.tree is None:
        return False
    trained = _training_functions(source.tree)
    inside = source.function_at(line) or source.tree
    return any(call.lineno > line and _is_training(call, trained) for call in _calls(inside))


def _training_functions(tree: ast.Module) -> frozenset[str]:
    functions = [node for node in walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    trained: frozenset[str] = frozenset()
    for _ in range(_LEVELS):
        found = {one.name for one in functions if any(_is_training(call, trained) for call in _calls(one))}
        if found == trained:
            break
        trained = frozenset(found)
    return trained


def _calls(inside: ast.AST) -> Iterator[ast.Call]:
    """Yields the calls that running this makes; what a function in it would call is that function's own affair."""
    waiting = list(ast.iter_child_nodes(inside))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Call):
            yield node
        waiting += ast.iter_child_nodes(node)


def _is_training(call: ast.Call, trained: frozenset[str]) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr in _TRAINS or function.attr in trained
    return isinstance(function, ast.Name) and function.id in trained
