"""Whether a context manager of the job's own can swallow an exception: `__exit__` that may return true, or a generator.

A generator under `contextmanager` swallows what its `yield` raises where a handler around that goes on. Pure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.dynamic.exit_status.caught_types import Catches, RaisedType, catches
from diagnostics.dynamic.job.job import Job
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.exception_flow import ends_in_raise
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile, imported_files

_EXITS = ("__exit__", "__aexit__")
_MAKERS = ("contextmanager", "asynccontextmanager")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnManager:
    """The lines of `file` at which it may swallow; none where it lets each exception through."""

    file: str
    lines: tuple[int, ...]


def own_manager(job: Job, file: str, name: str, raised: RaisedType) -> OwnManager | None:
    """Returns the context manager that a name stands for; None where it is not the job's own, or not clear."""
    source = job.sources.file(file)
    found = [
        (path, one, node)
        for path, one in _near(job, file, source, name)
        for node in (walk(one.tree) if name and one.tree is not None else ())
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    ]
    if len({(path, node.lineno) for path, _, node in found}) != 1:
        return None
    path, where, node = found[0]
    lines = _of_class(node) if isinstance(node, ast.ClassDef) else _of_generator(node, where, raised)
    return None if lines is None else OwnManager(file=path, lines=lines)


def _near(job: Job, file: str, source: SourceFile, name: str) -> Iterator[tuple[str, SourceFile]]:
    """Yields a file, those that it imports, and those that these hand a name on from: `from .run import Run`."""
    yield file, source
    seen, waiting = {file}, list(imported_files(file, source))
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        one = job.sources.file(path)
        yield path, one
        if any(isinstance(node, ast.ImportFrom) and _names(node, name) for node in one.all_statements):
            waiting += imported_files(path, one)


def _names(node: ast.ImportFrom, name: str) -> bool:
    return any(alias.name in (name, "*") for alias in node.names)


def _of_class(node: ast.ClassDef) -> tuple[int, ...] | None:
    """Returns the lines at which `__exit__` gives back what may be true; None where it is not its own."""
    own = next(
        (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name in _EXITS),
        None,
    )
    if own is None:
        return None
    returns = (one for one in _own_nodes(own.body) if isinstance(one, ast.Return) and one.value is not None)
    return tuple(one.lineno for one in returns if not (isinstance(one.value, ast.Constant) and not one.value.value))


def _of_generator(
    node: ast.FunctionDef | ast.AsyncFunctionDef, source: SourceFile, raised: RaisedType
) -> tuple[int, ...] | None:
    if not any(last_name(one) in _MAKERS for one in node.decorator_list):
        return None
    inside = [one for one in _own_nodes(node.body) if isinstance(one, ast.Try) and _yields(one.body)]
    takers = (
        next((one for one in block.handlers if catches(one.type, raised, source) is not Catches.NO), None)
        for block in inside
    )
    return tuple(one.lineno for one in takers if one is not None and not ends_in_raise(one.body))


def _yields(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(one, ast.Yield) for one in _own_nodes(body))


def _own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yields the nodes of some statements without those of functions and classes inside."""
    for node in body:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own_nodes(tuple(children(node)))
