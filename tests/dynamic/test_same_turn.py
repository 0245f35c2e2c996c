"""Loops that ranks are in the same turn of did not part them."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.core.frame import Frame, Scalar
from diagnostics.dynamic.divergence.divergence import DivergencePoint, StatementKind
from diagnostics.dynamic.divergence.same_turn import without_whole_loops
from diagnostics.static.program.source_file import SourceStore

COUNTED = """\
def main():
    for epoch in range(2):
        for number, batch in enumerate(batches()):
            stage.run(batch)
        dist.barrier()
"""
UNCOUNTED = COUNTED.replace("number, batch in enumerate(batches())", "batch in batches()")
WHILE = COUNTED.replace("for epoch in range(2)", "while epoch < 2")
WRITTEN = COUNTED.replace("            stage.run(batch)\n", "            stage.run(batch)\n            number = 0\n")
LOOP = DivergencePoint(kind=StatementKind.LOOP, frame=Frame(file="t.py", line=3, function="main"), text="", score=48)
ORIGIN = DivergencePoint(kind=StatementKind.CALLS, frame=Frame(file="t.py", line=9, function="of"), text="", score=47)
OTHER = DivergencePoint(kind=StatementKind.BRANCH, frame=Frame(file="s.py", line=4, function="run"), text="", score=20)


def at(line: int, **values: Scalar) -> tuple[Frame, ...]:
    """Returns the stack of a rank that stands in main()."""
    return (Frame(file="t.py", line=line, function="main", values=tuple(values.items())),)


def kept(folder: Path, source: str, here: tuple[Frame, ...], there: tuple[Frame, ...]) -> tuple[DivergencePoint, ...]:
    """Returns what is left of the loop, what it follows from, and another line."""
    (folder / "t.py").write_text(source)
    return without_whole_loops(SourceStore(str(folder)), (LOOP, ORIGIN, OTHER), [here], [there])


def test_a_loop_that_one_rank_left_behind_the_turn_in_which_the_other_waits_is_no_cause(tmp_path: Path) -> None:
    assert kept(tmp_path, COUNTED, at(5, epoch=0, number=4), at(4, epoch=0, number=4)) == (OTHER,)


@pytest.mark.parametrize(
    ("source", "here", "there"),
    [
        (COUNTED, at(5, epoch=0, number=3), at(4, epoch=0, number=4)),  # one made fewer turns
        (COUNTED, at(5, epoch=0, number=4), at(4, epoch=1, number=4)),  # one is an epoch ahead
        (COUNTED, at(5, epoch=0), at(4, epoch=0)),  # nothing was seen of the counter
        (UNCOUNTED, at(5, epoch=0, number=4), at(4, epoch=0, number=4)),
        (WHILE, at(5, epoch=0, number=4), at(4, epoch=0, number=4)),  # how often the outer one went round is not known
        (WRITTEN, at(5, epoch=0, number=4), at(4, epoch=0, number=4)),
    ],
)
def test_a_loop_stays_where_its_turns_differ_or_are_not_known(
    tmp_path: Path, source: str, here: tuple[Frame, ...], there: tuple[Frame, ...]
) -> None:
    assert kept(tmp_path, source, here, there) == (LOOP, ORIGIN, OTHER)


NESTED = """\
def fit():
    for epoch in counter:
        for batch in loader:
            batch.backward()
    dist.barrier()
"""
OUTER, INNER = (
    DivergencePoint(kind=StatementKind.LOOP, frame=Frame(file="t.py", line=line, function="fit"), text="", score=score)
    for line, score in ((2, 41), (3, 45))
)


@pytest.mark.parametrize(
    ("here", "there", "left"),
    [
        ({"epoch": 4}, {"epoch": 5}, (OUTER,)),  # one came to the loop's end in epoch 4, the other is in the next one
        ({"epoch": 4}, {"epoch": 4}, (OUTER, INNER)),
        ({"epoch": 4}, {}, (OUTER, INNER)),
    ],
)
def test_a_loop_within_one_that_the_ranks_are_in_different_turns_of_is_no_cause(
    tmp_path: Path, here: dict[str, Scalar], there: dict[str, Scalar], left: tuple[DivergencePoint, ...]
) -> None:
    (tmp_path / "t.py").write_text(NESTED)
    found = without_whole_loops(SourceStore(str(tmp_path)), (OUTER, INNER), [at(5, **here)], [at(4, **there)])
    assert found == left
