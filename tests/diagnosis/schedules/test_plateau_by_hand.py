"""A plateau that waits for the opposite of what it is given: what is told of it, and which numbers say nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.schedules import plateau_waits_the_wrong_way
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.schedule_marks import Plateau
from diagnostics.record.parameter_prints import ParameterPrints

TRAIN = """\
scheduler = ReduceLROnPlateau(optimizer)
for epoch in range(9):
    scheduler.step(result)
    scheduler.step(meters.accuracy)
    scheduler.step(1 - accuracy)
"""


def given(folder: Path, line: int = 3, **other: Any) -> Plateau:
    """Returns the mark of a plateau that was given rising numbers in this line."""
    mark = Plateau(
        optimizer=0, scheduler=7, step=50, mode="min", first=0.1, rate=0.01, names=("accuracy", "result"),
        numbers=(0.3, 0.41, 0.5, 0.5, 0.62), losses=(None, 2.0, 1.5, 1.2, 1.1), made=frames(f"{folder}/train.py:1"),
        path=frames(f"{folder}/train.py:{line}"),
    )  # fmt: skip
    return replace(mark, **other)


def job_of(folder: Path, *marks: Plateau) -> Job:
    """Returns the job of one rank that told these."""
    rank = a_process(agent=agent(steps=80), prints=ParameterPrints(marks=marks))
    return a_job(rank, code=0, cwd=folder, files={"train.py": TRAIN})


def test_the_plateau_and_what_it_was_given_are_named(tmp_path: Path) -> None:
    found = plateau_waits_the_wrong_way.match(job_of(tmp_path, given(tmp_path)))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "wrong-schedule", (0,), ("train.py:1", "train.py:3"),
    )  # fmt: skip
    assert found.finding.title == (
        'ReduceLROnPlateau of train.py:1 has mode="min" and is given `accuracy` at train.py:3: it rose from 0.3 to '
        "0.62 in 5 calls, and the rate was cut for that from 0.1 to 0.01"
    )


@pytest.mark.parametrize(
    ("line", "other"),
    [
        (4, {"names": ()}),
        (4, {"names": ("result",)}),
        (3, {"names": ("current",), "numbers": (3 / 24, 6 / 24, 7 / 24, 11 / 24)}),
        (3, {"names": (), "numbers": (300 / 24, 600 / 24, 700 / 24, 1100 / 24)}),
        (3, {"mode": "max", "names": ("val_loss",), "numbers": (4.0, 3.0, 2.5, 2.2, 2.1)}),
        (3, {"mode": "max", "names": (), "numbers": (2.5, 2.1, 1.6, 1.3, 1.2), "losses": (3.0, 2.0, 1.5, 1.2, 1.1)}),
    ],
)
def test_what_it_is_given_is_known_by_its_name_its_line_or_its_numbers(
    tmp_path: Path, line: int, other: dict[str, Any]
) -> None:
    assert plateau_waits_the_wrong_way.match(job_of(tmp_path, given(tmp_path, line, **other))) is not None


@pytest.mark.parametrize(
    ("line", "other"),
    [
        (3, {"numbers": (0.3, 0.41, 0.5)}),  # few
        (3, {"numbers": (0.3, 0.29, 0.41, 0.5, 0.6, 0.7)}),  # got better once
        (3, {"numbers": (0.3, 0.41, 0.35, 0.3, 0.42, 0.4)}),  # goes up and down
        (3, {"numbers": (0.3, None, 0.41, 0.5, 0.6)}),  # one was on a device
        (3, {"mode": "max"}),
        (3, {"names": ("val_loss",)}),  # overfits
        (3, {"names": ("accuracy", "loss")}),
        (3, {"names": ("neg_accuracy",)}),
        (5, {"names": ()}),
        (3, {"names": ("result",)}),  # shares of 100: rounded
        (3, {"names": (), "numbers": (0.2718281, 0.4142135, 0.5772156, 0.6931471)}),  # no share of a whole count
        (3, {"names": (), "numbers": (31 / 24, 36 / 24, 41 / 24, 47 / 24)}),  # beyond 1
        (3, {"names": ("error_rate",), "numbers": (3 / 24, 6 / 24, 7 / 24, 11 / 24)}),
        (3, {"mode": "max", "names": (), "numbers": (0.9, 0.8, 0.7, 0.6, 0.5)}),  # an accuracy that falls
    ],
)
def test_losses_that_rise_numbers_without_a_trend_and_shares_of_errors_are_not_told(
    tmp_path: Path, line: int, other: dict[str, Any]
) -> None:
    assert plateau_waits_the_wrong_way.match(job_of(tmp_path, given(tmp_path, line, **other))) is None
