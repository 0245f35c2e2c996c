"""A schedule of all steps that is stepped once an epoch: what is told of it, and which looks say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.schedules import schedule_too_slow
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.schedule_marks import ScheduleSlow
from diagnostics.record.parameter_prints import Look, OptimizedModel, ParameterPrints

TRAIN = """\
scheduler = OneCycleLR(optimizer, 0.1, total_steps=epochs * len(loader))
for epoch in range(epochs):
    for batch in loader:
        optimizer.step()
    scheduler.step()
"""
MODEL = OptimizedModel(
    optimizer=0, class_name="SGD", stepped=(), made=(), names=("weight",), shapes=("4x3",), wrapper=(0,),
    sharded=(False,), in_model=(True,),
)  # fmt: skip


def a_look(optimizer: int) -> Look:
    return Look(
        model=MODEL if not optimizer else OptimizedModel(
            optimizer=optimizer, class_name="SGD", stepped=(), made=(), names=("weight",), shapes=("4x3",),
            wrapper=(0,), sharded=(False,), in_model=(True,),
        ),
        step=1, values=(), gradients=(), rates=(0.01,), graded=1, closure=False, loss=1.0, backwards=1, world_size=1,
        number=None, wrappers=(),
    )  # fmt: skip


def job_of(folder: Path, *, at: int = 120, steps: int = 160, horizon: int = 160, optimizers: int = 1) -> Job:
    """Returns the job of one rank whose schedule was stepped 6 times up to `at`."""
    mark = ScheduleSlow(
        optimizer=0, step=at, rate=0.004, scheduler="OneCycleLR", stepped=6, horizon=horizon,
        made=frames(f"{folder}/train.py:1"), path=frames(f"{folder}/train.py:4"),
    )  # fmt: skip
    prints = ParameterPrints(marks=(mark,), looks=tuple(map(a_look, range(optimizers))))
    rank = a_process(agent=agent(steps=steps), prints=prints, argv=("train.py",), cwd=str(folder))
    return a_job(rank, code=0, cwd=folder, files={"train.py": TRAIN})


def test_the_schedule_is_told_where_it_is_stepped_and_made(tmp_path: Path) -> None:
    found = schedule_too_slow.match(job_of(tmp_path))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "wrong-schedule", (0,), ("train.py:5", "train.py:1", "train.py:4"),
    )  # fmt: skip
    assert found.finding.title == (
        "OneCycleLR of train.py:1 is made for 160 steps and was stepped 6 times in the first 120 of 160: its rate, "
        "0.004, never leaves the beginning"
    )


@pytest.mark.parametrize(
    "other", [{"at": 60}, {"horizon": 40}, {"horizon": 400}, {"steps": 12, "horizon": 12, "at": 10}, {"optimizers": 2}],
    ids=["an early look", "of the epochs", "of a longer run", "a few steps", "several optimizers"],
)  # fmt: skip
def test_schedules_of_another_length_and_early_looks_are_not_told(tmp_path: Path, other: dict[str, int]) -> None:
    assert schedule_too_slow.match(job_of(tmp_path, **other)) is None
