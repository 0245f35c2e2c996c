"""How the places of two calls stand to each other."""

from __future__ import annotations

import pytest

from diagnostics.core.frame import Frame
from diagnostics.dynamic.divergence.branch_relation import BranchRelation, relate
from diagnostics.static.program.source_file import SourceStore

TEXT = """\
class Mean:
    def reduce(self):
        all_reduce(self)
class Spread:
    def reduce(self):
        all_gather(self)
def main(rank, loader):
    values = [meter.reduce() for meter in meters]
    if rank:
        broadcast(values)
    else:
        gather(values)
    for batch in loader:
        step(batch)
    try:
        save(values)
    except OSError:
        give_up(values)
    barrier()
def run(task):
    if task.embeds:
        return embed(task)
    generate(task)
    if task.waits:
        wait(task)
    return finish(task)
"""
SOURCES = SourceStore("/job", {"/job/train.py": TEXT}, frozenset())


def path(*places: tuple[int, str]) -> list[Frame]:
    """Returns frames, innermost first."""
    return [Frame(file="train.py", line=line, function=function) for line, function in places]


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ([(8, "main")], [(8, "main")], BranchRelation.SAME),
        ([(3, "Mean.reduce"), (8, "main")], [(6, "Spread.reduce"), (8, "main")], BranchRelation.SAME),
        ([(10, "main")], [(12, "main")], BranchRelation.ARMS),
        ([(10, "Trainer.main")], [(12, "main")], BranchRelation.ARMS),  # one of them told without its class
        ([(10, "main")], [(19, "main")], BranchRelation.ONE_INSIDE),
        ([(19, "main")], [(18, "main")], BranchRelation.OTHER_INSIDE),
        ([(14, "main")], [(19, "main")], BranchRelation.OTHER_LEFT_LOOP),
        ([(19, "main")], [(14, "main")], BranchRelation.ONE_LEFT_LOOP),
        ([(8, "main")], [(19, "main")], BranchRelation.APART),
        ([(22, "run")], [(23, "run")], BranchRelation.ARMS),  # behind a guard that leaves is its `else`
        ([(26, "run")], [(22, "run")], BranchRelation.ARMS),
        ([(25, "run")], [(26, "run")], BranchRelation.ONE_INSIDE),
    ],
)
def test_two_calls_stand_to_each_other_as_their_lines_do(
    one: list[tuple[int, str]], other: list[tuple[int, str]], found: BranchRelation
) -> None:
    assert relate(SOURCES, path(*one), path(*other)) is found


def test_without_a_source_two_lines_are_apart() -> None:
    assert relate(SourceStore("/job", {}, frozenset()), path((10, "main")), path((12, "main"))) is BranchRelation.APART
