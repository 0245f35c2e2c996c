"""A run that goes on from the file whose name is the last as a text and not as a number; what is chosen on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event, frames

from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.training import resumed_from_an_earlier_file
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import ReadState, SavedFile

TRAIN = """\
last = {chosen}
state = torch.load(last)
for epoch in epochs:
    torch.save(state, f"checkpoint_{{epoch}}.pt")
"""
SORTED = "sorted(names)[-1]"
NAME = "ckpt/checkpoint_%s.pt"


def saved(folder: Path, name: str, number: int, at: int, *, counted: bool = True) -> SavedFile:
    return SavedFile(
        file=f"{folder}/{name}" % number, began_ns=at, ended_ns=at + 1, empty=False, step=4,
        path=frames(f"{folder}/train.py:4"), counter=number if counted else None,
    )  # fmt: skip


def matched(
    folder: Path, read: int = 9, *, name: str = NAME, kept: str = "", first: range = range(8, 13), counted: bool = True,
    later: bool = True, steps: int = 40, optimizer: bool = True, chosen: str = SORTED,
) -> Match | None:  # fmt: skip
    """Returns what is told of a run that reads this file after an earlier one wrote these, and writes others."""
    kept = kept or name
    mark = ReadState(
        file=f"{folder}/{name}" % read, counter=read if counted else None, optimizer=optimizer,
        path=frames(f"{folder}/train.py:2"), at_ns=1000,
    )  # fmt: skip
    writes = [saved(folder, kept, number, 10 * at, counted=counted) for at, number in enumerate(first)]
    before = a_process(100, rank=0, agent=agent(steps=40), prints=ParameterPrints(marks=tuple(writes)))
    again = (saved(folder, kept, read + 1, 2000, counted=counted),) if later else ()
    told = agent(event("optimizer", "", f"{folder}/train.py:1"), pid=101, steps=steps)
    now = a_process(101, rank=0, argv=("python",), agent=told, prints=ParameterPrints(marks=(mark, *again)))
    job = a_job(before, now, ranks=(now,), code=0, cwd=folder, files={"train.py": TRAIN.format(chosen=chosen)})
    return resumed_from_an_earlier_file.match(job)


def test_the_line_that_chooses_by_the_name_is_told_first(tmp_path: Path) -> None:
    found = matched(tmp_path)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "checkpoint-not-loaded", (0,), ("train.py:1", "train.py:2"),
    )  # fmt: skip
    assert found.finding.title == (
        "The run went on from checkpoint_9.pt at train.py:2, though checkpoint_12.pt had been written: as a text its "
        "name comes last, as a number it does not"
    )


def test_what_is_written_under_another_name_first_and_folders_with_numbers_are_known(tmp_path: Path) -> None:
    temporary = matched(tmp_path, kept=NAME + ".tmp", chosen="max(names)")
    folders = matched(tmp_path, 900, name="run2/step-%s/model.pt", first=range(800, 1300, 100), counted=False)
    assert [one.finding.title.split(":")[0] for one in (temporary, folders) if one is not None] == [
        "The run went on from checkpoint_9.pt at train.py",
        "The run went on from step-900/model.pt at train.py",
    ]


@pytest.mark.parametrize(
    ("read", "fields"),
    [
        (12, {}),  # the last one
        (8, {}),  # chosen by something else than its name
        (9, {"first": range(6, 10)}),  # no other was there
        (9, {"later": False}),  # read, and others are written
        (9, {"steps": 0}),  # it is evaluated
        (9, {"counted": False, "optimizer": False}),  # weights alone
        (9, {"kept": "other/checkpoint_%s.pt"}),
        (9, {"kept": "ckpt/best_%s.pt"}),
    ],
)
def test_the_last_file_and_one_that_is_chosen_by_something_else_are_left_alone(
    read: int, fields: dict[str, object], tmp_path: Path
) -> None:
    assert matched(tmp_path, read, **fields) is None  # type: ignore[arg-type]


def test_a_line_that_compares_numbers_is_not_named(tmp_path: Path) -> None:
    found = matched(tmp_path, chosen="max(names, key=number_of)")
    assert found is not None
    assert found.locations == ("train.py:2",)
