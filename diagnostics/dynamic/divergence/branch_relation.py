"""How the places of two calls in the source stand to each other: one call, two arms of one branch, one within. Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state import RankState
from diagnostics.dynamic.divergence.divergence import DivergenceQuery
from diagnostics.static.program.source_file import SourceStore


class BranchRelation(StrEnum):
    """Of the call of one rank to that of another."""

    SAME = "same"  # one call, or one line that calls different functions
    ARMS = "arms"  # two arms of one branch: each has its own call there
    ONE_INSIDE = "one-inside"  # the first is in a branch or handler in which the other is not
    OTHER_INSIDE = "other-inside"
    ONE_LEFT_LOOP = "one-left-loop"  # the other is still in a loop that the first has left, or not entered
    OTHER_LEFT_LOOP = "other-left-loop"
    APART = "apart"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPartition:
    """Two camps of ranks of one deadlock. `sure` where evidence tells that those of `parting.here` are the odd ones."""

    parting: DivergenceQuery
    relation: BranchRelation
    here: tuple[RankState, ...]
    there: tuple[RankState, ...]
    sure: bool
    by_history: bool = False  # they broke with what they themselves had done before


_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPOUND = (ast.Try, ast.If, ast.Match, ast.With, ast.AsyncWith, *_LOOPS)
_JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BRANCHES = (ast.If, ast.Match, ast.IfExp, ast.BoolOp)


def relate(sources: SourceStore, one: Sequence[Frame], other: Sequence[Frame]) -> BranchRelation:
    """Returns how two call paths, innermost frames first, stand to each other where they part."""
    outer = list(zip(reversed(one), reversed(other), strict=False))
    at = next((at for at, (a, b) in enumerate(outer) if a.line != b.line or not _same_function(a, b)), None)
    if at is None:
        return BranchRelation.SAME if len(one) == len(other) else BranchRelation.APART
    first, second = outer[at]
    if not _same_function(first, second):
        spans = [frame.span for frame in outer[at - 1]] if at else [None]
        return BranchRelation.APART if None not in spans and spans[0] != spans[1] else BranchRelation.SAME
    source = sources.file(first.file)
    if source.tree is None:
        return BranchRelation.APART
    arms = _arms(source.tree, first.line), _arms(source.tree, second.line)
    one_function = source.function_at(first.line) is source.function_at(second.line)
    if one_function and (_is_else(arms[0], arms[1], second.line) or _is_else(arms[1], arms[0], first.line)):
        return BranchRelation.ARMS
    return _compare(*arms)


def _same_function(one: Frame, other: Frame) -> bool:
    """Whether both are in one function, by name: faulthandler and Python before 3.11 leave out a method's class."""
    names = [frame.function for frame in (one, other)]
    if not all("." in name for name in names):
        names = [name.rpartition(".")[2] for name in names]
    return one.file == other.file and names[0] == names[1]


def _compare(one: list[tuple[ast.AST, str]], other: list[tuple[ast.AST, str]]) -> BranchRelation:
    common = 0
    while common < min(len(one), len(other)) and one[common] == other[common]:
        common += 1
    mine, theirs = one[common:], other[common:]
    if mine and theirs and mine[0][0] is theirs[0][0]:
        if isinstance(mine[0][0], ast.Try):
            in_handler = mine[0][1].startswith("handlers"), theirs[0][1].startswith("handlers")
            return {(True, False): BranchRelation.ONE_INSIDE, (False, True): BranchRelation.OTHER_INSIDE}.get(
                in_handler, BranchRelation.APART
            )
        return BranchRelation.ARMS if isinstance(mine[0][0], _BRANCHES) else BranchRelation.APART
    if _conditional(mine) != _conditional(theirs):
        return BranchRelation.ONE_INSIDE if _conditional(mine) else BranchRelation.OTHER_INSIDE
    if _looped(mine) != _looped(theirs):
        return BranchRelation.OTHER_LEFT_LOOP if _looped(mine) else BranchRelation.ONE_LEFT_LOOP
    return BranchRelation.APART


def _is_else(inside: list[tuple[ast.AST, str]], outside: list[tuple[ast.AST, str]], line: int) -> bool:
    """Whether a line stands behind an `if` that the other one is in and that always jumps away: it is its `else`."""
    common = next((at for at, pair in enumerate(inside) if outside[at : at + 1] != [pair]), len(inside))
    guard, arm = inside[common] if common < len(inside) else (None, "")
    if not isinstance(guard, ast.If) or arm != "body" or guard.orelse:
        return False
    return isinstance(guard.body[-1], _JUMPS) and (guard.end_lineno or 0) < line


def _conditional(arms: list[tuple[ast.AST, str]]) -> bool:
    """Whether the outermost of these statements need not be carried out."""
    inner = next((pair for pair in arms if not isinstance(pair[0], ast.With | ast.AsyncWith)), None)
    if inner is None:
        return False
    return isinstance(inner[0], _BRANCHES) or (isinstance(inner[0], ast.Try) and inner[1].startswith("handlers"))


def _looped(arms: list[tuple[ast.AST, str]]) -> bool:
    return any(isinstance(node, _LOOPS) and arm == "body" for node, arm in arms)


def _arms(tree: ast.AST, line: int) -> list[tuple[ast.AST, str]]:
    """Returns the compound statements around a line, outermost first, each with the part of it that has the line."""
    found: list[tuple[ast.AST, str]] = []
    node: ast.AST | None = tree
    while node is not None:
        inside = None
        for name, value in ast.iter_fields(node):
            for index, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case) and _spans(child, line):
                    inside = child, f"{name}{index}" if name in ("handlers", "cases") else name
        if inside is None:
            return found
        if isinstance(node, _COMPOUND):
            found.append((node, inside[1]))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.clear()  # what is around the function's definition decides nothing in it
        node = inside[0]
    return found


def _spans(node: ast.stmt | ast.ExceptHandler | ast.match_case, line: int) -> bool:
    if isinstance(node, ast.match_case):
        first, last = node.body[0], node.body[-1]
        return first.lineno <= line <= (last.end_lineno or last.lineno)
    return node.lineno <= line <= (node.end_lineno or node.lineno)
