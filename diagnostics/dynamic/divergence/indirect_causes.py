"""Decisions that no branch on the way shows: a decorator, a callback only some ranks registered, a context. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.dynamic.divergence.candidates import HIGHEST, decision, is_rank_gated
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind
from diagnostics.dynamic.divergence.same_site import contexts
from diagnostics.dynamic.divergence.search_states import SearchTarget
from diagnostics.dynamic.divergence.stack_alignment import Stack, StackLevel
from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import DATA, ENVIRONMENT, RANK, Taint
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.call_graph import last_name

_REGISTERED = 8
_LOOKED_AT = 2  # innermost levels whose contexts are looked at


def indirect_causes(
    here: SearchTarget, there: SearchTarget, taints: RankTaint, start: Stack | None = None
) -> Iterator[DivergencePoint]:
    """Yields decisions seen beside the ways of two ranks, with their scores.

    What both were in already when they last agreed, at `start`, has not parted them since: functions, and objects whose
    class some ranks alone have made.
    """
    before = {level.function for level in start.levels} if start is not None else set()
    at_work = {id(owner) for one in before if (owner := taints.program.class_of(one)) is not None}
    for own, other in ((here.stack, there.stack), (there.stack, here.stack)):
        for level in (one for one in _alone(own, other) if one.function not in before):
            yield from _decorators(level)
            if id(taints.program.class_of(level.function)) not in at_work:
                yield from _registrations(level, taints)
        for level in own.levels[-_LOOKED_AT:]:
            # Which context is open says nothing by itself, unless it decides whether gradients are reduced.
            quiet = () if _leaves_out_sync(level) else (DATA, ENVIRONMENT)
            yield from (one for one in contexts(level, taints) if one.tainted_by not in quiet)


def _leaves_out_sync(level: StackLevel) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "no_sync" for node in level.function.nodes_of(ast.Attribute)
    )


def _alone(own: Stack, other: Stack) -> tuple[StackLevel, ...]:
    """Returns the levels that only one of two ranks has entered."""
    for at, level in enumerate(own.levels):
        if at >= len(other.levels) or other.levels[at].function is not level.function:
            return own.levels[at:]
        if other.levels[at].line != level.line:
            return own.levels[at + 1 :]
    return ()


def _decorators(level: StackLevel) -> Iterator[DivergencePoint]:
    for decorator in getattr(level.function.syntax, "decorator_list", ()):
        if is_rank_gated(last_name(decorator)):
            taint = Taint(RANK, level.function.file, decorator.lineno, level.function.name)
            yield decision(level.function, decorator.lineno, StatementKind.BRANCH, taint, HIGHEST + 1)


def _registrations(level: StackLevel, taints: RankTaint) -> Iterator[DivergencePoint]:
    """Yields the branches on the rank in which the function, or the class it is a method of, is named."""
    function = level.function
    owner = taints.program.class_of(function)
    name = owner.name if owner is not None else function.name.rpartition(".")[2]
    if name in ("<module>", "<lambda>"):
        return
    for where in taints.program.functions:
        if where is function:
            continue
        for node in where.nodes_of((ast.If, ast.IfExp)):
            if isinstance(node, (ast.If, ast.IfExp)) and _names(node, name):
                taint = taints.of(node.test, where)
                if taint is not None:
                    yield decision(where, node.test.lineno, StatementKind.BRANCH, taint, taint.weight + _REGISTERED)


def _names(block: ast.If | ast.IfExp, name: str) -> bool:
    parts = [block.body, block.orelse] if isinstance(block, ast.IfExp) else [*block.body, *block.orelse]
    return any(
        (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)
        for part in parts
        for node in walk(part)
    )


def library_call(goal: SearchTarget, first: DivergencePoint) -> Iterator[DivergencePoint]:
    """Yields the call of a library in which a rank communicates, where its line shows no operation of the group."""
    if not goal.stack.levels:
        return
    level = goal.stack.levels[-1]
    calls = [node.syntax for node in level.function.graph.at_line(level.line) if isinstance(node.syntax, ast.Call)]
    function = level.function
    if not calls or any(last_name(c.func) == "backward" or function.program.communicates(c, function) for c in calls):
        return
    if (level.function.file, level.line) != (first.frame.file, first.frame.line):
        yield decision(level.function, level.line, StatementKind.CALLS, None, first.score - 1)
