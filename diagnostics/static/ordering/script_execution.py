"""What a Python program does when it is started: the statements that run, from the top of its file on. Pure, bounded.

Calls into the project's own functions are followed. A statement is sure to run where no branch, handler or early exit
stands before it; what decides a branch is not worked out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diagnostics.static.program import exit_calls
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

DEEPEST = 8
MOST_STATEMENTS = 20_000
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedStatement:
    """One simple statement or one condition that runs, and the calls that lead to it, outermost first."""

    node: ast.AST
    function: Function
    sure: bool
    calls: tuple[tuple[ast.Call, Function], ...]


def steps(file: ProjectFile, project: Project) -> Iterator[ExecutedStatement]:
    """Yields what runs when a file is started as a program, in order; each function once."""
    if file.tree is None:
        return
    run = _Run(project)
    yield from run.block(file.tree.body, project.module_of(file), True, ())


class _Run:
    def __init__(self, project: Project) -> None:
        self.project = project
        self.entered: set[int] = set()
        self.left = MOST_STATEMENTS

    def block(
        self, body: Sequence[ast.stmt], function: Function, sure: bool, calls: tuple[tuple[ast.Call, Function], ...]
    ) -> Iterator[ExecutedStatement]:
        for statement in body:
            self.left -= 1
            if self.left < 0:
                return
            yield from self.statement(statement, function, sure, calls)
            sure = sure and not (isinstance(statement, (ast.If, ast.Try)) and _may_leave(statement))

    def statement(
        self, one: ast.stmt, function: Function, sure: bool, calls: tuple[tuple[ast.Call, Function], ...]
    ) -> Iterator[ExecutedStatement]:
        match one:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return
            case ast.If():
                main = _is_main(one.test)
                yield from self.simple(one.test, function, sure, calls)
                yield from self.block(one.body, function, sure and main, calls)
                yield from self.block(one.orelse, function, False, calls)
            case ast.For() | ast.AsyncFor():
                yield from self.simple(one.iter, function, sure, calls)
                yield from self.block(one.body, function, sure, calls)
            case ast.While():
                yield from self.simple(one.test, function, sure, calls)
                yield from self.block(one.body, function, sure, calls)
            case ast.With() | ast.AsyncWith():
                for item in one.items:
                    yield from self.simple(item.context_expr, function, sure, calls)
                yield from self.block(one.body, function, sure, calls)
            case ast.Try():
                yield from self.block(one.body, function, sure and not one.handlers, calls)
                for handler in one.handlers:
                    yield from self.block(handler.body, function, False, calls)
                yield from self.block([*one.orelse, *one.finalbody], function, sure and not one.handlers, calls)
            case ast.Match():
                for branch in one.cases:
                    yield from self.block(branch.body, function, False, calls)
            case _:
                yield from self.simple(one, function, sure, calls)

    def simple(
        self, node: ast.AST, function: Function, sure: bool, calls: tuple[tuple[ast.Call, Function], ...]
    ) -> Iterator[ExecutedStatement]:
        yield ExecutedStatement(node=node, function=function, sure=sure, calls=calls)
        if len(calls) >= DEEPEST:
            return
        for call in [one for one in walk(node) if isinstance(one, ast.Call)]:
            targets = self.project.targets(call, function)
            for target in targets:
                syntax = target.syntax
                if id(syntax) in self.entered or not isinstance(syntax, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                self.entered.add(id(syntax))
                yield from self.block(syntax.body, target, sure and len(targets) == 1, (*calls, (call, function)))


def _is_main(test: ast.expr) -> bool:
    left = test.left if isinstance(test, ast.Compare) else None
    return isinstance(left, ast.Name) and left.id == "__name__"


def _may_leave(statement: ast.If | ast.Try) -> bool:
    for node in walk(statement):
        if isinstance(node, _LEAVES):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in exit_calls.METHODS:
            return True
    return False
