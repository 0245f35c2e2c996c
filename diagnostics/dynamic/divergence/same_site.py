"""Why ranks can do different things in one line: the order of a loop around it, a context, an argument. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.dynamic.divergence.candidates import decision
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind
from diagnostics.dynamic.divergence.search_states import SearchTarget
from diagnostics.dynamic.divergence.stack_alignment import StackLevel, nodes_at
from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import DATA, LOSS, Taint
from diagnostics.static.program.call_graph import Function, last_name

MOST_LEVELS = 6
# Given by the root alone, as its second argument: that ranks differ in it is meant.
_ONLY_AT_THE_ROOT = {
    "gather": ("gather_list",),
    "scatter": ("scatter_list",),
    "gather_object": ("object_gather_list",),
}
_ORDER_POINTS, _CONTEXT_POINTS, _ARGUMENT_POINTS = 6, 4, 0
_OTHER_ROOT = 15  # that this argument differs was seen, where it comes from was not found


def same_site_causes(goal: SearchTarget, taints: RankTaint, *, other_root: bool = False) -> tuple[DivergencePoint, ...]:
    """Returns what can differ between two ranks that both stand at `goal`, best first.

    `other_root`: the calls are known to differ in the root they name, and so by the argument that gives it.
    """
    if other_root and goal.op in operations.ROOTED and (named := tuple(_root_argument(goal, taints))):
        return tuple(sorted(named, key=lambda one: -one.score))
    found: list[DivergencePoint] = []
    for depth, level in enumerate(reversed(goal.stack.levels[-MOST_LEVELS:])):
        function = level.function
        for loop in _around(function, level.line):
            if not isinstance(loop, (ast.For, ast.AsyncFor, ast.comprehension)):
                continue
            taint = taints.of_loop(loop.iter, function)
            if taint is not None and taint.why not in (DATA, LOSS):
                found += _lines(function, loop.iter.lineno, StatementKind.LOOP, taint, _ORDER_POINTS - depth, taints)
        found += contexts(level, taints, depth)
        if depth == 0:
            found += _arguments(level, taints, goal.op)
    best: dict[tuple[str, int], DivergencePoint] = {}
    for one in found:
        key = (one.frame.file, one.frame.line)
        if key not in best or best[key].score < one.score:
            best[key] = one
    return tuple(sorted(best.values(), key=lambda one: -one.score))


def contexts(level: StackLevel, taints: RankTaint, depth: int = 0) -> Iterator[DivergencePoint]:
    """Yields the `with`s around a level's line whose context only some ranks have: no_sync() on one of them."""
    for block in _around(level.function, level.line):
        for item in block.items if isinstance(block, (ast.With, ast.AsyncWith)) else ():
            taint = taints.of(item.context_expr, level.function)
            if taint is not None:
                line = item.context_expr.lineno
                yield from _lines(level.function, line, StatementKind.BRANCH, taint, _CONTEXT_POINTS - depth, taints)


def _arguments(level: StackLevel, taints: RankTaint, op: str) -> Iterator[DivergencePoint]:
    for index in nodes_at(level, None, op):
        call = level.function.graph.nodes[index].syntax
        if not isinstance(call, ast.Call):
            continue
        lists = _ONLY_AT_THE_ROOT.get(last_name(call.func), ())
        keywords = [one.value for one in call.keywords if one.arg not in lists]
        for argument in (*(call.args[:1] if lists else call.args), *(call.args[2:] if lists else ()), *keywords):
            taint = taints.of(argument, level.function)
            if taint is not None:
                yield from _lines(level.function, call.lineno, StatementKind.CALLS, taint, _ARGUMENT_POINTS, taints)


def _root_argument(goal: SearchTarget, taints: RankTaint) -> Iterator[DivergencePoint]:
    """Yields the call, whose root is what differs, and the line where the difference comes into that argument."""
    name = operations.ROOTED[goal.op]
    for level in goal.stack.levels[-1:]:
        for index in nodes_at(level, None, goal.op):
            call = level.function.graph.nodes[index].syntax
            if not isinstance(call, ast.Call):
                continue
            given = {one.arg: one.value for one in call.keywords}
            place = operations.PARAMETERS[goal.op].index(name)
            argument = given.get(name) or given.get(f"group_{name}") or next(iter(call.args[place : place + 1]), None)
            taint = taints.of(argument, level.function) if argument is not None else None
            if taint is not None:
                yield from _lines(level.function, call.lineno, StatementKind.CALLS, taint, _ARGUMENT_POINTS, taints)
            elif argument is not None:
                yield decision(level.function, call.lineno, StatementKind.CALLS, None, _OTHER_ROOT)


def _lines(
    function: Function, line: int, kind: StatementKind, taint: Taint, points: int, taints: RankTaint
) -> Iterator[DivergencePoint]:
    """Yields the line and the one where the difference comes in: that first where it is a choice by itself."""
    yield decision(function, line, kind, taint, taint.weight + points)
    if (taint.file, taint.line) == (function.file, line):
        return
    functions = taints.program.functions
    where = next((one for one in functions if (one.name, one.file) == (taint.function, taint.file)), None)
    if where is None or taint.line > len(where.source.lines):
        return
    chooses = " if " in f" {where.source.lines[taint.line - 1].strip()}"
    further = StatementKind.BRANCH if chooses else StatementKind.CALLS
    yield decision(where, taint.line, further, taint, taint.weight + points + (1 if chooses else -1))


def _around(function: Function, line: int) -> list[ast.AST]:
    """Returns the blocks around a line, the innermost first."""
    around = [node for node in function.own_nodes if _holds(node, line)]
    return sorted(around, key=lambda node: -getattr(node, "lineno", 0))


def _holds(node: ast.AST, line: int) -> bool:
    if isinstance(node, ast.comprehension):
        return node.target.lineno <= line + 3 and line <= (node.iter.end_lineno or 0)
    return getattr(node, "lineno", 0) < line <= (getattr(node, "end_lineno", None) or 0)
