"""Ranks that part by something that only some of them do at all, since it stands under a test of the rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.project import Project
from diagnostics.static.spmd.divergent_branch import DivergenceShape, DivergentBranch


def left_under_rank_test(parting: DivergentBranch, project: Project) -> bool:
    """Whether only some ranks come to the place where the program is left: `if rank == 0: if done(): sys.exit(0)`."""
    if parting.shape is not DivergenceShape.EXIT or parting.exit is None:
        return False
    return any(
        not any(inner is parting.here.chain[0][0] for inner in walk(around))
        for around in _rank_tests_around(parting.decision, parting, project)
    )


def raised_under_rank_test(parting: DivergentBranch, project: Project) -> bool:
    """Whether what may fail before the operation in a `try` is done by some ranks only."""
    attempt = project.file_with(parting.function).parents.get(parting.decision)
    if parting.shape is not DivergenceShape.SKIPPED or not isinstance(attempt, ast.Try):
        return False
    tests, met = RankPredicates(project), parting.here.chain[0][0]
    return any(
        isinstance(one, ast.If)
        and one.lineno < met.lineno
        and tests.asks(one.test, parting.function) is not None
        and any(isinstance(inner, ast.Call) for part in one.body for inner in walk(part))
        and not any(inner is met for inner in walk(one))
        for one in attempt.body
    )


def _rank_tests_around(node: ast.AST, parting: DivergentBranch, project: Project) -> Iterator[ast.If]:
    parents, tests = project.file_with(parting.function).parents, RankPredicates(project)
    around = parents.get(node)
    while around is not None and around is not parting.function.syntax:
        if isinstance(around, ast.If) and tests.asks(around.test, parting.function) is not None:
            yield around
        around = parents.get(around)
