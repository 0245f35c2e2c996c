"""The statements around a line of a function, from the function's body inwards. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.core.frame import Frame
from diagnostics.static.program.exception_flow import spans
from diagnostics.static.program.source_file import SourceFile

Scope = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementLevel:
    """One of nested lists of statements: the `part` of its `owner` ("body", "orelse"...), and which one holds the line.

    `owner` is None where the list is the scope's own.
    """

    owner: ast.stmt | None
    part: str
    statements: Sequence[ast.stmt]
    index: int

    @property
    def statement(self) -> ast.stmt:
        """The one that holds the line."""
        return self.statements[self.index]

    @property
    def after(self) -> Sequence[ast.stmt]:
        """Those behind it."""
        return self.statements[self.index + 1 :]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosing:
    """The scope that a frame runs, and its lists of statements around the frame's line, outermost first."""

    scope: Scope
    levels: tuple[StatementLevel, ...]


def enclosing(source: SourceFile, frame: Frame) -> Enclosing | None:
    """Returns what stands around a frame's line in the function that it runs; None where the source does not tell.

    What stands around the definition of a function is not around its calls.
    """
    scope: Scope | None = source.tree
    if scope is None or frame.function.endswith("<lambda>"):
        return None
    levels: list[StatementLevel] = []
    owner: ast.stmt | None = None
    lists = [("body", scope.body)]
    while (level := _level(owner, lists, frame.line)) is not None:
        levels.append(level)
        owner, lists = level.statement, list(_lists(level.statement))
        if isinstance(owner, Scope):
            if not any(spans(one, frame.line) for one in owner.body):
                break  # its decorators and defaults run outside
            scope, owner, levels = owner, None, []
    return Enclosing(scope=scope, levels=tuple(levels))


def _level(owner: ast.stmt | None, lists: Sequence[tuple[str, list[ast.stmt]]], line: int) -> StatementLevel | None:
    for part, statements in lists:
        for index, statement in enumerate(statements):
            if spans(statement, line) or any(spans(one, line) for one in getattr(statement, "decorator_list", ())):
                return StatementLevel(owner=owner, part=part, statements=statements, index=index)
    return None


def _lists(statement: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yields the lists of statements inside a compound statement."""
    for part in ("body", "orelse", "finalbody"):
        yield part, getattr(statement, part, [])
    for one in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield "handler", one.body
