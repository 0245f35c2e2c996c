"""Decisions that no branch on the way shows: a decorator, a callback only some ranks registered, a context, a graph.

What a backward pass runs through was laid down in the forward pass: where one rank waits in the backward of an
autograd.Function of the project, and the other is through with the pass, its graph lacks that node. Pure.
"""

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
from diagnostics.static.program.call_graph import Function, last_name

_REGISTERED = 8
_LOOKED_AT = 2  # innermost levels whose contexts are looked at
_CUTS = HIGHEST - 1  # a graph that ends early on one rank: what stands behind the backward pass decided nothing
_MOST_CALLERS = 3  # functions between the one that applies a Function and the one that decides
_SIZES = {"shape", "size", "numel", "nonzero", "any", "all", "sum", "count_nonzero", "item"}
_FRESH = {"empty", "zeros", "ones", "full", "tensor", "empty_like", "zeros_like", "ones_like", "full_like", "new_empty",
          "new_zeros", "new_ones", "new_full", "new_tensor", "detach"}  # fmt: skip


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


def graph_causes(here: SearchTarget, there: SearchTarget, taints: RankTaint) -> Iterator[DivergencePoint]:
    """Yields the tests of sizes that leave out a Function in whose backward one rank waits, and the other is not.

    Which of them did is not known: nothing is recorded of what a graph holds.
    """
    kinds = [{id(one): one for level in goal.stack.levels if (one := _function_class(level, taints)) is not None}
             for goal in (here, there)]  # fmt: skip
    kind = next(
        (one for key, one in (*kinds[0].items(), *kinds[1].items()) if (key in kinds[0]) != (key in kinds[1])), None
    )
    for function in _around(kind, taints) if kind is not None else ():
        for node in function.nodes_of(ast.If):
            if isinstance(node, ast.If) and _asks_size(node.test) and any(map(_is_cut, (*node.body, *node.orelse))):
                taint = taints.of(node.test, function) or Taint(DATA, function.file, node.test.lineno, function.name)
                yield decision(function, node.test.lineno, StatementKind.BRANCH, taint, _CUTS)


def _function_class(level: StackLevel, taints: RankTaint) -> ast.ClassDef | None:
    """Returns the autograd.Function whose backward a level is in."""
    kind = taints.program.class_of(level.function) if level.function.name.endswith(".backward") else None
    return kind if kind is not None and any(last_name(base) == "Function" for base in kind.bases) else None


def _around(kind: ast.ClassDef, taints: RankTaint) -> list[Function]:
    """Returns the functions that lead to the use of a Function, and those that they call beside it."""
    program = taints.program
    applied = (
        where
        for call, where in program.calls_by_name["apply"]
        if isinstance(call.func, ast.Attribute) and last_name(call.func.value) == kind.name
    )
    found = dict.fromkeys(applied)
    for _ in range(_MOST_CALLERS):
        found.update(
            dict.fromkeys(where for one in list(found) for call, where in program.calls_by_name[_plain(one)]
                          if one in program.targets(call, where))
        )  # fmt: skip
    for where in list(found):
        for call in where.nodes_of(ast.Call):
            if isinstance(call, ast.Call):
                found.update(dict.fromkeys(program.targets(call, where)))
    return list(found)


def _plain(function: Function) -> str:
    return function.name.rpartition(".")[2]


def _asks_size(test: ast.expr) -> bool:
    """Whether a test asks how much there is, which each rank's own data decides."""
    return any(
        (isinstance(one, ast.Attribute) and one.attr in _SIZES)
        or (isinstance(one, ast.Call) and last_name(one.func) == "len")
        for one in walk(test)
    )


def _is_cut(statement: ast.stmt) -> bool:
    """Whether a statement gives back, or puts in a value's place, a tensor that no graph leads to."""
    if not isinstance(statement, (ast.Return, ast.Assign)):
        return False
    value = statement.value
    return value is None or (isinstance(value, ast.Call) and last_name(value.func) in _FRESH)


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
