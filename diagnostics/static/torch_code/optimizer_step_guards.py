"""The conditions in the source on which an optimizer step depends: an `if` around it, a turn that is skipped. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import steps_an_optimizer, training_loops
from diagnostics.static.program.source_file import SourceFile

Function = ast.FunctionDef | ast.AsyncFunctionDef


def step_conditions(source: SourceFile, trained_by: frozenset[str]) -> tuple[int, ...]:
    """Returns the lines of the `if`s that decide about a step in a file, the innermost around a step first."""
    nodes = list(walk(source.tree)) if source.tree is not None else []
    if not any(steps_an_optimizer(node) for node in nodes):
        return ()  # it updates its parameters by hand, or another file makes the step
    around = [
        node
        for node in nodes
        if isinstance(node, ast.If) and any(steps_an_optimizer(one) for part in node.body for one in walk(part))
    ]
    nested = sorted(around, key=lambda node: -node.lineno)
    trains = [
        *training_loops(source, trained_by),
        *(n for n in nodes if isinstance(n, Function) and n.name in trained_by),
    ]
    skipping = [node for outer in trains for node in _skips(outer)]
    return tuple(dict.fromkeys(node.lineno for node in (*nested, *skipping) if not _is_main(node)))


def _skips(outer: ast.AST) -> Iterator[ast.If]:
    """Yields the `if`s that go on to the next turn, or leave, before the step."""
    for node in walk(outer):
        if isinstance(node, ast.If) and any(
            isinstance(one, ast.Continue | ast.Break | ast.Return) for one in node.body
        ):
            yield node


def _is_main(node: ast.If) -> bool:
    return ast.unparse(node.test).startswith("__name__")
