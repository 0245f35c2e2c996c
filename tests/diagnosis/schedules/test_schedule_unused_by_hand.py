"""A schedule that nobody steps: what is told of it, and which looks and how many epochs say nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.schedules import schedule_unused
from diagnostics.dynamic.job.job import Job
from diagnostics.record.batch_data import BatchSource, LoaderPass, SourceKind
from diagnostics.record.marks.schedule_marks import ScheduleUnused
from diagnostics.record.parameter_prints import ParameterPrints

TRAIN = """\
scheduler = StepLR(optimizer, 2)
for batch in loader:
    if scaler is None:
        optimizer.step()
        scheduler.step()
    else:
        scaler.step(optimizer)
"""


def an_epoch(number: int, steps: int) -> LoaderPass:
    """Returns one whole pass of the training."""
    return LoaderPass(
        number=number, batches=steps, printed=0, rows=0, order=0, total=0, index_order=0, indexed=True, epoch=None,
        epoch_now=None, ended=True, steps=steps, optimizer=0, trained=steps, own_epoch_calls=0, other_epoch_calls=0,
        epoch_path=(), began_s=1.0 + number, log=(),
    )  # fmt: skip


def job_of(folder: Path, *, looks: tuple[int, ...], epochs: int, steps: int = 90) -> Job:
    """Returns the job of one rank whose schedule was unused at these steps."""
    mark = ScheduleUnused(
        optimizer=0, step=60, rate=0.01, scheduler="StepLR", horizon=None, made=frames(f"{folder}/train.py:1"),
        path=frames(f"{folder}/train.py:7"),
    )  # fmt: skip
    each = steps // max(epochs, 1)
    source = BatchSource(
        kind=SourceKind.LOADER, built=(), sampler=(), facts={},
        passes=tuple(an_epoch(number, each) for number in range(epochs)),
    )  # fmt: skip
    rank = a_process(
        agent=agent(steps=steps, sources=(source,)),
        prints=ParameterPrints(marks=tuple(replace(mark, step=at) for at in looks)),
    )
    return a_job(rank, code=0, cwd=folder, files={"train.py": TRAIN})


def test_the_schedule_and_the_steps_that_pass_it_by_are_named(tmp_path: Path) -> None:
    found = schedule_unused.match(job_of(tmp_path, looks=(20, 60), epochs=6))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "wrong-schedule", (0,), ("train.py:5", "train.py:1", "train.py:7"),
    )  # fmt: skip
    assert found.finding.title == (
        "StepLR of train.py:1 is never stepped: the learning rate stays at 0.01 in all 90 steps"
    )


@pytest.mark.parametrize(
    ("looks", "epochs", "steps"),
    [((), 6, 90), ((20,), 6, 90), ((60,), 2, 90), ((60,), 0, 90), ((20,), 3, 39)],
)
def test_an_early_look_alone_and_few_epochs_are_not_told(
    tmp_path: Path, looks: tuple[int, ...], epochs: int, steps: int
) -> None:
    assert schedule_unused.match(job_of(tmp_path, looks=looks, epochs=epochs, steps=steps)) is None
