"""What is known of an expression on each rank: names are followed, never believed."""

from __future__ import annotations

import ast

import pytest

from diagnostics.static.dataflow.partial_evaluation import ConcreteEvaluator
from diagnostics.static.dataflow.rank_predicates import OPEN, ConcreteRank
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

HELPERS = """
import os
import torch.distributed as dist

def get_rank():
    if not dist.is_initialized():
        return 0
    return dist.get_rank()

class Grid:
    def __init__(self, columns):
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.row, self.column = divmod(self.rank, 2)

    @property
    def is_last(self):
        return self.rank == self.world - 1

def own(rank):
    return rank

def asked(grid: Grid, rank, group):
    own_rank = get_rank()
    changed = dist.get_rank()
    changed += 1
    for other in range(dist.get_world_size()):
        pass
    return %s

def calls(grid):
    asked(grid, 3, None)
"""
OPEN_TEXT = "open"


def on_four(expression: str) -> list[object]:
    """Returns what an expression in `asked` comes to on ranks 0 to 3."""
    file = ProjectFile("train.py", (HELPERS % expression).encode(), FileKind.PYTHON)
    project = Project([file])
    function = project.by_name["asked"][0]
    value = next(node.value for node in function.own_nodes if isinstance(node, ast.Return))
    assert value is not None
    found = [ConcreteEvaluator(project).value(value, function, ConcreteRank(rank, 4)) for rank in range(4)]
    return [OPEN_TEXT if one is OPEN else one for one in found]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("dist.get_rank()", [0, 1, 2, 3]),
        ("own_rank", [0, 1, 2, 3]),
        ("(own_rank + 1) % dist.get_world_size()", [1, 2, 3, 0]),
        ("own_rank ^ 1", [1, 0, 3, 2]),
        ("int(os.environ['RANK']) == 2", [False, False, True, False]),
        ("os.environ['RANK'] == '2'", [False, False, True, False]),
        ("grid.is_last", [False, False, False, True]),
        ("grid.row", [0, 0, 1, 1]),
        ("own(own_rank - 1)", [-1, 0, 1, 2]),
        ("rank", [3, 3, 3, 3]),  # what every caller passes, whatever it is called
        ("own_rank == 0 and unseen", [OPEN_TEXT, False, False, False]),
        ("1 if own_rank else 2", [2, 1, 1, 1]),
    ],
)
def test_a_value_is_worked_out_on_each_rank(expression: str, expected: list[object]) -> None:
    assert on_four(expression) == expected


@pytest.mark.parametrize(
    "expression", ["other", "changed", "unseen", "dist.get_rank(group)", "unseen.rank", "own_rank // 0", "own(*unseen)"]
)
def test_what_is_not_known_stays_open(expression: str) -> None:
    assert on_four(expression) == [OPEN_TEXT] * 4
