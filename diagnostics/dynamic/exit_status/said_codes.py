"""Whether all that a program did with an exit code was to say something of it. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from diagnostics.dynamic.exit_status.code_uses import reads_of
from diagnostics.dynamic.exit_status.handler_effects import goes_on_saying, says_only
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.exception_flow import spans
from diagnostics.static.program.source_file import SourceFile

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_MOST_NAMES = 2  # `code = child.wait(); failed = code != 0`


def is_only_said(source: SourceFile, line: int, how: str) -> bool:
    """Whether a code that was read at a line was printed or logged there, or chose what was, and no more."""
    scope = source.function_at(line) or source.tree
    read = reads_of(walk(scope), line, how) if scope is not None else []
    return bool(read) and all(_only_said(node, scope, _MOST_NAMES) for node in read if scope is not None)


def in_loop(source: SourceFile, line: int) -> bool:
    """Whether a line stands in a loop of its function: a program may go on to the next one there on purpose."""
    scope = source.function_at(line) or source.tree
    return scope is not None and any(isinstance(node, _LOOPS) and spans(node, line) for node in walk(scope))


def _only_said(node: ast.AST, scope: ast.AST, names: int) -> bool:
    """Whether a value is in a statement that says something, in a test that chooses one, or in a name used so alone."""
    statements = [one for one in _statements(scope) if any(node is part for part in walk(one))]
    inner = statements[-1] if statements else None
    match inner:
        case ast.Expr():
            return says_only([inner])
        case ast.If():
            return goes_on_saying(inner.body) and goes_on_saying(inner.orelse)
        case ast.Assign(targets=[ast.Name(id=name)]) if names:
            loads = [one for one in walk(scope) if isinstance(one, ast.Name) and one.id == name]
            loads = [one for one in loads if isinstance(one.ctx, ast.Load)]
            return bool(loads) and all(_only_said(one, scope, names - 1) for one in loads)
    return False


def _statements(scope: ast.AST) -> Sequence[ast.stmt]:
    """Returns the statements of a function or module, the outer ones first."""
    return [node for node in walk(scope) if isinstance(node, ast.stmt) and node is not scope]
