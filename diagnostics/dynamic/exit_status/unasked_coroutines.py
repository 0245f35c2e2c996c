"""Coroutines that raise on a bad code, and whose exception stays in what `asyncio.gather` gave back to nobody. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from diagnostics.dynamic.exit_status.saying_statements import says_only
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.exception_flow import ends_in_raise, spans
from diagnostics.static.program.functions import last_name
from diagnostics.static.program.source_file import SourceFile

_TASKS = ("create_task", "ensure_future")


def unasked_line(source: SourceFile, line: int) -> int | None:
    """Returns the line that drops the exception which a code read at `line` leads to; None where somebody may ask.

    Each call of the coroutine has to stand in a `gather(..., return_exceptions=True)` or a task that nobody keeps.
    """
    scope = source.function_at(line)
    if source.tree is None or not isinstance(scope, ast.AsyncFunctionDef) or not _only_raises(scope, line):
        return None
    above = {below: node for node in walk(source.tree) for below in children(node)}
    names = [
        node
        for node in walk(source.tree)
        if isinstance(node, ast.Name | ast.Attribute) and last_name(node) == scope.name
    ]
    lines = [_dropping(node, above) for node in names]
    return lines[0] if lines and None not in lines else None


def _only_raises(scope: ast.AsyncFunctionDef, line: int) -> bool:
    """Whether a bad code makes the coroutine raise and do no more: `if await p.wait(): raise`."""
    for body in (
        scope.body,
        *(node.body for node in walk(scope) if isinstance(node, ast.With | ast.AsyncWith | ast.Try)),
    ):
        for at, statement in enumerate(body):
            if not spans(statement, line):
                continue
            follows = body[at + 1] if isinstance(statement, ast.Assign) and at + 1 < len(body) else statement
            if isinstance(follows, ast.If) and (follows is not statement or spans(follows.test, line)):
                return ends_in_raise(follows.body) and says_only(follows.body[:-1]) and not follows.orelse
    return False


def _dropping(called: ast.AST, above: Mapping[ast.AST, ast.AST]) -> int | None:
    node, given = called, False
    while (parent := above.get(node)) is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.Call) and node is not parent.func:
            name = last_name(parent.func)
            if name not in ("gather", *_TASKS):
                return None
            given = given or name in _TASKS or _keeps_exceptions(parent.keywords)
        elif isinstance(parent, ast.Lambda):
            return None
        node = parent
    # What is awaited alone raises; what gather collected, and a task that is only made, does not.
    return parent.lineno if given and isinstance(parent, ast.Expr) and not _awaits_a_task(parent.value) else None


def _awaits_a_task(value: ast.expr) -> bool:
    return isinstance(value, ast.Await) and last_name(value.value) in _TASKS


def _keeps_exceptions(keywords: Sequence[ast.keyword]) -> bool:
    return any(
        one.arg == "return_exceptions" and isinstance(one.value, ast.Constant) and one.value.value for one in keywords
    )
