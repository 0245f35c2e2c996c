"""Classes that ranks number in the order of a set are told, orders that are the same or meant to differ are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event
from made_batches import DDP

from diagnostics.diagnosis.updates import names_numbered_apart
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.object_marks import NumberedNames
from diagnostics.record.parameter_prints import ParameterPrints

TABLE = NumberedNames(
    path="codec.label_id",
    name="label_id",
    owner="Codec",
    length=3,
    names=11,
    numbers=21,
    first=(("cat", 0), ("dog", 1)),
)
ANOTHER = NumberedNames(
    path="codec.label_id",
    name="label_id",
    owner="Codec",
    length=3,
    names=11,
    numbers=22,
    first=(("cat", 2), ("dog", 0)),
)
MADE = {
    "a list of a set": "labels = list({row.label for row in rows})\n"
    "label_id = {one: i for i, one in enumerate(labels)}\n",
    "a set that grew": "seen = set()\nfor row in rows:\n    seen.add(row.label)\n"
    "label_id = dict(zip(tuple(seen), range(3)))\n",
    "a loop over a union": "class Codec:\n    def __init__(self, a, b):\n"
    "        self.label_id = {one: i for i, one in enumerate(set(a) | set(b))}\n",
}
LINES = {"a list of a set": "train.py:1", "a set that grew": "train.py:4", "a loop over a union": "train.py:3"}


def ranks_of(first: NumberedNames, second: NumberedNames, source: str, folder: Path, *, shared: bool = True) -> Job:
    """Returns the job of two ranks with a table each, whose program is this one."""
    told = [event("optimizer", "", f"{folder}/train.py:1")]
    told += [event("gradient-group", DDP)] if shared else []
    processes = [
        a_process(100 + rank, rank=rank, agent=agent(*told, pid=100 + rank), prints=ParameterPrints(marks=(mark,)))
        for rank, mark in enumerate((first, second))
    ]
    return a_job(*processes, code=0, cwd=folder, files={"train.py": source})


@pytest.mark.parametrize("how", MADE)
def test_numbers_that_differ_between_ranks_are_told_with_the_line_that_orders_a_set(how: str, tmp_path: Path) -> None:
    found = names_numbered_apart.match(ranks_of(TABLE, ANOTHER, MADE[how], tmp_path))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations[0]) == ("rank-divergence", (0, 1), LINES[how])
    assert found.finding.title == (
        "Ranks 0, 1 number the 3 names of codec.label_id differently, while they share their gradients: the order is "
        f"that of a set at {LINES[how]}"
    )


LISTED, SORTED = MADE["a list of a set"], "label_id = {one: i for i, one in enumerate(sorted(set(labels)))}\n"
SHUFFLED = "order = set(names)\nrandom.shuffle(files)\nlabel_id = {one: i for i, one in enumerate(files)}\n"


def test_equal_numbers_other_names_orders_that_are_drawn_and_ranks_apart_are_left_alone(tmp_path: Path) -> None:
    renamed = NumberedNames(path=TABLE.path, name="label_id", owner="Codec", length=3, names=12, numbers=22, first=())
    healthy = [
        ranks_of(TABLE, TABLE, LISTED, tmp_path),
        ranks_of(TABLE, renamed, LISTED, tmp_path),
        ranks_of(TABLE, ANOTHER, LISTED, tmp_path, shared=False),
    ]
    healthy_sources = [SORTED, SHUFFLED]
    assert [names_numbered_apart.match(one) for one in healthy] == [None] * 3
    for number, source in enumerate(healthy_sources):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert names_numbered_apart.match(ranks_of(TABLE, ANOTHER, source, folder)) is None
