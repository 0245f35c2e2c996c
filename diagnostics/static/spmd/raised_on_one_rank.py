"""Whether an exception that a program raises itself comes on one rank: by its data, or in what one rank does. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.dataflow.rank_guards import conditions
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.taint_sources import DATA, LOSS, RANK, source_of
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.divergent_branch import calls_in

_DEPTH = 4
_READERS = frozenset(
    ["load", "open", "read_csv", "read_parquet", "load_file", "read_image", "read_text", "memmap", "File"]
)
_OF_TENSORS = {"any", "all", "sum", "isnan", "isinf", "isfinite", "numel", "item", "max", "min"}


def raised_on_one_rank(handler: ast.ExceptHandler, function: Function, project: Project) -> bool:
    """Whether what a handler catches is raised by the project's own code, where only one rank comes to it."""
    names = {last_name(one) for one in _types(handler)}
    attempt = project.file_with(function).parents[handler]
    body = attempt.body if isinstance(attempt, ast.Try) else []
    return any(
        _is_named(node, names) and (under_rank or _on_data(node, where, project))
        for where, under_rank in _entered(body, function, project)
        for node in where.nodes_of(ast.Raise)
    )


def reads_own_file(handler: ast.ExceptHandler, function: Function, project: Project) -> bool:
    """Whether what is tried reads a file that is another one on each rank, which may be broken or missing there."""
    attempt = project.file_with(function).parents[handler]
    body = attempt.body if isinstance(attempt, ast.Try) else []
    reads = [(one, function) for one in calls_in(body)]
    reads += [(one, where) for where, _ in _entered(body, function, project) for one in where.nodes_of(ast.Call)
              if isinstance(one, ast.Call)]  # fmt: skip
    return any(
        last_name(call.func) in _READERS and any(is_by_rank(one, where, project) for one in call.args[:1])
        for call, where in reads
    )


def is_by_rank(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether the rank is in a value, wherever it was made."""
    return any(source_of(node) == RANK for made, _ in origins(value, function, project) for node in walk(made))


def _types(handler: ast.ExceptHandler) -> list[ast.expr]:
    caught = handler.type
    return list(caught.elts) if isinstance(caught, ast.Tuple) else [caught] if caught is not None else []


def _is_named(node: ast.AST, names: set[str]) -> bool:
    raised = node.exc if isinstance(node, ast.Raise) else None
    return raised is not None and last_name(raised) in names


def _entered(body: list[ast.stmt], function: Function, project: Project) -> Iterator[tuple[Function, bool]]:
    """Yields the functions that statements run, and whether one rank alone comes to them."""
    tests = RankPredicates(project)
    waiting = [(call, function, False, _DEPTH) for call in calls_in(body)]
    seen: set[tuple[int, bool]] = set()
    while waiting:
        call, where, under, depth = waiting.pop()
        file = project.file_with(where)
        here = under or any(tests.asks(test, where) is not None for test in conditions(call, where, file))
        for target in project.targets(call, where):
            if (id(target), here) not in seen and depth:
                seen.add((id(target), here))
                yield target, here
                inner = (node for node in target.nodes_of(ast.Call) if isinstance(node, ast.Call))
                waiting += [(one, target, here, depth - 1) for one in inner]


def _on_data(node: ast.AST, function: Function, project: Project) -> bool:
    """Whether a test of what a tensor or a batch holds decides about it."""
    tests = list(conditions(node, function, project.file_with(function)))
    return any(
        source_of(one) in (DATA, LOSS)
        or (isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _OF_TENSORS
            and not one.args and last_name(one.func.value) not in ("self", "cls"))
        for test in tests
        for one in walk(test)
    )  # fmt: skip
