"""How sure it is that a loop is longer on one rank than on another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.analysis.flow_files import Function, last_name
from diagnostics.analysis.project import Project
from diagnostics.analysis.rank_decisions import Parting
from diagnostics.analysis.rank_tests import OPEN, OnRank, RankTests
from diagnostics.findings import Confidence

MOST_STEPS = 60
_OPENS = {"open", "load", "loadtxt", "read_csv", "read_parquet", "read_text", "readlines", "File", "read_table", "memmap"}


def length_confidence(parting: Parting, project: Project) -> Confidence:
    """Returns LIKELY where the loop's source is chosen by the rank: a file of its own, a size of its own."""
    loop = parting.decision
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return Confidence.POSSIBLE
    chosen = any(_differs(value, function, project) for value, function in _origins(loop.iter, parting.function, project))
    return Confidence.LIKELY if chosen else Confidence.POSSIBLE


def _differs(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether a value names a file of the rank's own, or has another size on another rank."""
    tests = RankTests(project)
    for node in ast.walk(value):
        if isinstance(node, ast.Call) and last_name(node.func) in _OPENS | {"shard_path", "glob"}:
            if any(_by_rank(argument, function, tests) for argument in node.args[:1]):
                return True
        if isinstance(node, ast.IfExp) and tests.asks(node.test, function) is not None:
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.value, (ast.List, ast.Tuple, ast.Dict)):
            if tests.value(node.slice, function, OnRank(0)) != tests.value(node.slice, function, OnRank(1)):
                return True
        # The last rank's share is cut off at the end: range(rank * n, min(total, (rank + 1) * n)).
        if isinstance(node, ast.Call) and last_name(node.func) == "min" and len(node.args) > 1:
            if any(_by_rank(argument, function, tests) for argument in node.args):
                return True
    return False


def _by_rank(value: ast.expr, function: Function, tests: RankTests) -> bool:
    for node in ast.walk(value):
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
            first = tests.value(node, function, OnRank(0, 2))
            if first is not OPEN and first != tests.value(node, function, OnRank(1, 2)):
                return True
    return False


def _origins(value: ast.expr, function: Function, project: Project) -> Iterator[tuple[ast.expr, Function]]:
    """Yields the expressions that a loop's source is made of, through names, attributes and arguments; bounded."""
    waiting: list[tuple[ast.expr, Function]] = [(value, function)]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_STEPS:
        one, where = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one, where
        for node in ast.walk(one):
            if isinstance(node, ast.Name):
                waiting += _named(node.id, where, project)
            elif isinstance(node, ast.Attribute):
                waiting += project.attribute_values(node, where)[:4]
            elif isinstance(node, ast.Call):
                for target in project.targets(node, where):
                    waiting += [(inner.value, target) for inner in target.own_nodes
                                if isinstance(inner, (ast.Return, ast.Yield)) and inner.value is not None]  # fmt: skip
                    waiting += [(inner.iter, target) for inner in target.own_nodes if isinstance(inner, ast.For)]


def _named(name: str, function: Function, project: Project) -> list[tuple[ast.expr, Function]]:
    scope: Function | None = function
    while scope is not None:
        if name in scope.assigned:
            return [(value, scope) for value in scope.assigned[name][:4]]
        if name in scope.parameters:
            return list(project.arguments(name, scope))[:4]
        scope = scope.outer
    return []
