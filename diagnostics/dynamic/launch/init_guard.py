"""The condition around a call: which `if` decides that a rank makes it. Pure; a file without a tree answers nothing."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Case
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans


def guard_of(case: Case, path: Sequence[Frame]) -> tuple[str, ...]:
    """Returns the lines of the conditions that enclose a call path, innermost first."""
    found = []
    for frame in path:
        source = case.sources.file(frame.file)
        root: ast.AST | None = source.function_at(frame.line) or source.tree
        nodes = [node for node in walk(root) if isinstance(node, ast.If | ast.IfExp)] if root is not None else []
        around = [node for node in nodes if _inside(node, frame.line) and not _is_main(node)]
        lines = sorted({node.lineno for node in around}, reverse=True)
        found += [case.line(Frame(file=frame.file, line=line, function="")) for line in lines]
    return tuple(found)


def leavings_before(case: Case, path: Sequence[Frame]) -> tuple[str, ...]:
    """Returns the conditions, and the returns in them, by which a function is left before the call, nearest first."""
    found = []
    for frame in path:
        root = case.sources.file(frame.file).function_at(frame.line)
        ifs = [node for node in walk(root) if isinstance(node, ast.If)] if root is not None else []
        before = sorted((node for node in ifs if (node.end_lineno or 0) < frame.line), key=lambda node: -node.lineno)
        for node in before:
            returns = [one.lineno for one in node.body if isinstance(one, ast.Return)]
            lines = [node.lineno, *returns] if returns else []
            found += [case.line(Frame(file=frame.file, line=line, function="")) for line in lines]
    return tuple(found)


def _inside(node: ast.If | ast.IfExp, line: int) -> bool:
    branches = [*node.body, *node.orelse] if isinstance(node, ast.If) else [node.body, node.orelse]
    return any(spans(one, line) for one in branches)


def _is_main(node: ast.If | ast.IfExp) -> bool:
    return "__name__" in ast.unparse(node.test)
