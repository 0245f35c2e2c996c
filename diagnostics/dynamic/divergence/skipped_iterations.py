"""Statements by which one rank may have left out an operation in an earlier round of a loop, unnoticed then. Pure.

Calls of one kind fit together also when one rank is a round ahead: the ranks then part rounds later, at a statement on
which nothing depends. What made the rank skip is a guard or a handler in the loop, around or before the operation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.dynamic.divergence.branch_tests import Made, passed_alike
from diagnostics.dynamic.divergence.candidates import decision
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind
from diagnostics.dynamic.divergence.stack_alignment import Stack, StackLevel
from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import EXCEPTION, Taint

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def skipped_iterations(start: Stack, taints: RankTaint, made: Sequence[Made] = ()) -> Iterator[DivergencePoint]:
    """Yields what can differ between ranks and lets one of them pass by the call at the end of `start`."""
    in_loop = False
    for level in start.levels:
        loops = [node for node in level.function.own_nodes if isinstance(node, _LOOPS) and _spans(node, level.line)]
        outermost = min(loops, key=lambda node: node.lineno, default=None)
        block = level.function.syntax if in_loop else outermost
        if block is not None:
            yield from _in(block, level, taints, made, returns=in_loop)
        in_loop = in_loop or bool(loops)


def _in(
    block: ast.AST, level: StackLevel, taints: RankTaint, made: Sequence[Made], *, returns: bool
) -> Iterator[DivergencePoint]:
    jumps = (ast.Continue, ast.Return) if returns else (ast.Continue,)
    for node in level.function.own_nodes:
        if not isinstance(node, (ast.If, ast.Try)) or not _within(node, block) or node.lineno > level.line:
            continue
        if isinstance(node, ast.Try):
            yield from _handlers(node, level, jumps)
            continue
        inside = _spans(node, level.line) and node.test.lineno != level.line
        jump = None if inside else _jump(node.body, jumps) or _jump(node.orelse, jumps)
        taint = taints.of(node.test, level.function) if inside or jump is not None else None
        if taint is not None and not passed_alike(node, level.function, made, taints.fixed):
            yield decision(level.function, node.test.lineno, StatementKind.BRANCH, taint, taint.weight)
            if jump is not None and jump.lineno != node.test.lineno:
                kind = StatementKind.SKIPS if isinstance(jump, ast.Continue) else StatementKind.RETURNS
                yield decision(level.function, jump.lineno, kind, taint, taint.weight - 1)


def _handlers(block: ast.Try, level: StackLevel, jumps: tuple[type[ast.stmt], ...]) -> Iterator[DivergencePoint]:
    """Yields the handlers that go on after an exception kept the rank from the call."""
    guarded = block.body[0].lineno <= level.line <= (block.body[-1].end_lineno or 0)
    for handler in block.handlers:
        if _spans(handler, level.line) or not (guarded or _jump(handler.body, jumps)):
            continue
        if isinstance(handler.body[-1], ast.Raise):
            continue
        taint = Taint(EXCEPTION, level.function.file, handler.lineno, level.function.name)
        yield decision(level.function, handler.lineno, StatementKind.HANDLES, taint, taint.weight)


def _jump(body: list[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> ast.stmt | None:
    return body[-1] if body and isinstance(body[-1], kinds) else None


def _within(node: ast.AST, block: ast.AST) -> bool:
    first, last = getattr(block, "lineno", 0), getattr(block, "end_lineno", None)
    return isinstance(block, ast.Module) or first < getattr(node, "lineno", 0) <= (last or 0)


def _spans(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", None) or 0)
