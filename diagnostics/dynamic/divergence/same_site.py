"""Why ranks can do different things in one line: the order of a loop around it, a context, an argument. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from diagnostics.agent.shared import operations
from diagnostics.dynamic.divergence.candidates import decision
from diagnostics.dynamic.divergence.divergence import DivergencePoint, ProgramPoint, StatementKind
from diagnostics.dynamic.divergence.search_states import SearchTarget
from diagnostics.dynamic.divergence.stack_alignment import StackLevel, nodes_at
from diagnostics.static.dataflow.rank_taint import RankTaint
from diagnostics.static.dataflow.taint_sources import DATA, LOSS, RANK, Taint
from diagnostics.static.program.call_graph import Function, last_name

MOST_LEVELS = 6
_ORDER_POINTS, _CONTEXT_POINTS, _ARGUMENT_POINTS = 6, 4, 0
_SEEN_TO_DIFFER = 15  # that this argument differs was seen, where it comes from was not found


def unlike_arguments(here: ProgramPoint, there: ProgramPoint) -> tuple[str, ...]:
    """Returns the parameters in which two calls of one operation are known to differ: that of the root, the group."""
    differs = []
    if here.root != there.root and here.op in operations.ROOTED:
        differs.append(operations.ROOTED[here.op])
    if here.group and there.group and here.group != there.group:
        differs.append("group")
    return tuple(differs)


def same_site_causes(goal: SearchTarget, taints: RankTaint, differs: Sequence[str] = ()) -> tuple[DivergencePoint, ...]:
    """Returns what can differ between two ranks that both stand at `goal`, best first.

    `differs`: parameters in which their calls are known to differ, and so by the arguments that give them.
    """
    named = [point for name in differs for point in _known_argument(goal, name, taints)]
    if named and "group" not in differs:
        return tuple(sorted(named, key=lambda one: -one.score))
    # A loop over groups, each rank's in an order of its own, gives them to one line, too.
    found = list(named)
    for depth, level in enumerate(reversed(goal.stack.levels[-MOST_LEVELS:])):
        function = level.function
        for loop in _around(function, level.line):
            if not isinstance(loop, (ast.For, ast.AsyncFor, ast.comprehension)):
                continue
            taint = taints.of_loop(loop.iter, function)
            if taint is not None and taint.why not in (DATA, LOSS):
                found += _lines(function, loop.iter.lineno, StatementKind.LOOP, taint, _ORDER_POINTS - depth, taints)
        found += contexts(level, taints, depth) if not named else ()
        if depth == 0 and not named:
            found += _arguments(level, taints, goal.op)
    best: dict[tuple[str, int], DivergencePoint] = {}
    for one in found:
        key = (one.frame.file, one.frame.line)
        if key not in best or best[key].score < one.score:
            best[key] = one
    return tuple(sorted(best.values(), key=lambda one: -one.score))


def dispatch_causes(here: SearchTarget, there: SearchTarget, taints: RankTaint) -> Iterator[DivergencePoint]:
    """Yields the call that two ranks both stand in and that led to other code on each, by the object it was made on."""
    both = list(zip(here.stack.levels, there.stack.levels, strict=False))
    parted = next((at for at, (one, other) in enumerate(both) if one.function is not other.function), 0)
    level, other = both[parted - 1] if parted else (None, None)
    if level is None or other is None or level.line != other.line:
        return
    loops = [one for one in _around(level.function, level.line) if isinstance(one, (ast.For, ast.AsyncFor))]
    for call in level.function.nodes_of(ast.Call):
        if not isinstance(call, ast.Call) or not call.lineno <= level.line <= (call.end_lineno or 0):
            continue
        held = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        given = [
            one.iter
            for one in loops
            if {last_name(held)} & {last_name(node) for node in ast.walk(one.target) if isinstance(node, ast.Name)}
        ]
        taint = _of_content(given[0] if given else held, level.function, taints)
        if taint is not None and taint.why == RANK:
            yield from _lines(level.function, level.line, StatementKind.CALLS, taint, _ORDER_POINTS, taints)


def _of_content(held: ast.expr, function: Function, taints: RankTaint) -> Taint | None:
    """Returns why ranks may hold other objects here: by what they are, or by what the list of them was made from."""
    taint = taints.of(held, function)
    if taint is not None or not isinstance(held, ast.Attribute):
        return taint
    made = [(value, where) for value, where in taints.program.attribute_values(held, function)]
    given = [(argument, where) for value, where in made if isinstance(value, ast.Call) for argument in value.args]
    return next((found for one, where in given if (found := taints.of(one, where)) is not None), None)


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
        # Given by the root alone: that ranks differ in it is meant.
        called = last_name(call.func)
        given = operations.AT_ROOT.get(called, "")
        at = operations.PARAMETERS[called].index(given) if given else len(call.args)
        keywords = [one.value for one in call.keywords if one.arg != given]
        for argument in (*call.args[:at], *call.args[at + 1 :], *keywords):
            taint = taints.of(argument, level.function)
            if taint is not None:
                yield from _lines(level.function, call.lineno, StatementKind.CALLS, taint, _ARGUMENT_POINTS, taints)


def _known_argument(goal: SearchTarget, name: str, taints: RankTaint) -> Iterator[DivergencePoint]:
    """Yields the call, of which a parameter is what differs, and the line where the difference comes into it."""
    parameters = operations.PARAMETERS.get(goal.op, ())
    place = parameters.index(name) if name in parameters else None
    for level in goal.stack.levels[-1:]:
        for index in nodes_at(level, None, goal.op):
            call = level.function.graph.nodes[index].syntax
            if not isinstance(call, ast.Call):
                continue
            given = {one.arg: one.value for one in call.keywords}
            by_place = call.args[place : place + 1] if place is not None else []
            argument = given.get(name) or given.get(f"group_{name}") or next(iter(by_place), None)
            taint = taints.of(argument, level.function) if argument is not None else None
            if taint is not None:
                yield from _lines(level.function, call.lineno, StatementKind.CALLS, taint, _ARGUMENT_POINTS, taints)
            elif argument is not None and name != "group":
                yield decision(level.function, call.lineno, StatementKind.CALLS, None, _SEEN_TO_DIFFER)


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
