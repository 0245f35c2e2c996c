"""What ranks pass in a function is the same whether its callees were followed before or not."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from diagnostics.audit.files import collect
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile
from diagnostics.static.spmd.branch_assumption import BranchAssumption
from diagnostics.static.spmd.collective_sequences import CollectiveSequences
from diagnostics.static.spmd.collective_sites import CollectiveSites

CASES = Path(__file__).parent.parent / "audit" / "rules" / "cases" / "A2xx"
HEAD = "import torch.distributed as dist\n"
# Each helper is followed for the decisions of several functions; `turn` comes to the function that decides.
PROGRAM = """
def meet(t):
    if t.sum() > 0:
        dist.all_reduce(t)
    dist.barrier()

def first(t, late):
    if late:
        meet(t)
    else:
        return
    meet(t)

def second(t, rank, late):
    if rank == 0:
        meet(t)
    if late:
        first(t, late)

def turn(t, n):
    for _ in range(n):
        if n > 3:
            turn(t, n - 1)
        meet(t)
"""


def ways(project: Project, *, kept: bool) -> list[tuple[object, ...]]:
    """Returns what is passed on both ways of each decision, with one follower for all or a new one for each."""
    communication, tests = CollectiveSites(project), RankPredicates(project)
    for function in project.functions:  # as the rules do: which operations are reached is known before
        communication.of_function(function)
    follower = CollectiveSequences(project, communication, tests)
    found: list[tuple[object, ...]] = []
    for function, assumption in assumptions(project, tests):
        follower = follower if kept else CollectiveSequences(project, communication, tests)
        way = follower.way(function, assumption)
        found.append((function.name, way.items, [(one.op, one.sure, one.guessed, one.chain) for one in way.met],
                      way.end, follower._budget))  # fmt: skip
    return found


def assumptions(project: Project, tests: RankPredicates) -> list[tuple[Function, BranchAssumption]]:
    found: list[tuple[Function, BranchAssumption]] = []
    for function in project.functions:
        for node in function.nodes_of((ast.If, ast.While, ast.For, ast.ExceptHandler)):
            found += [(function, BranchAssumption(node, value)) for value in (True, False)]
            asked = tests.asks(node.test, function) if isinstance(node, (ast.If, ast.While)) else None
            found += [(function, BranchAssumption(node, True, on)) for on in asked or ()]
    return found


def test_a_function_that_was_followed_for_another_decision_gives_the_same() -> None:
    project = Project([ProjectFile("train.py", (HEAD + PROGRAM).encode(), FileKind.PYTHON)])
    kept = ways(project, kept=True)
    assert kept == ways(project, kept=False)
    passed = {str(items) for name, items, *_ in kept if name == "turn"}
    assert len(passed) > 1  # its own decision is looked at anew each time


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda path: path.name)
def test_the_programs_of_the_rules_about_collectives_are_followed_alike(case: Path) -> None:
    project = Project(collect([case]).files)
    assert ways(project, kept=True) == ways(project, kept=False)
