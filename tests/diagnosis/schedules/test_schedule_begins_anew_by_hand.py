"""A schedule that begins anew in a run that goes on: what is told of it, and which facts say that it is meant."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.schedules import schedule_begins_anew
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.schedule_marks import ScheduleAnew
from diagnostics.record.parameter_prints import ParameterPrints


def anew(**other: Any) -> ScheduleAnew:
    """Returns the mark of a cosine that begins at its start after 6 epochs of 12."""
    mark = ScheduleAnew(
        optimizer=0, step=21, since=1, loaded=0.05, initial=0.1, first=0.1, rate=0.095, began=0, count=1, key="",
        kept=0, alike=False, variable="epoch", counted=6, scheduler="LambdaLR", horizon=None,
        made=frames("train.py:20"), loaded_at=frames("train.py:19"), read_at=frames("train.py:18"),
        path=frames("train.py:30"),
    )  # fmt: skip
    return replace(mark, **other)


def job_of(mark: ScheduleAnew, steps: int = 120, code: int | None = 0) -> Job:
    """Returns the job of one rank that told it."""
    return a_job(a_process(agent=agent(steps=steps), prints=ParameterPrints(marks=(mark,))), code=code)


def test_the_scheduler_and_the_rates_are_named() -> None:
    found = schedule_begins_anew.match(job_of(anew()))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "wrong-schedule", (0,), ("train.py:20", "train.py:19", "train.py:18"),
    )  # fmt: skip
    assert found.finding.title == (
        "LambdaLR of train.py:20 begins at its start in a run that was resumed: the optimizer's state that was loaded "
        "at train.py:19 carries a rate of 0.05, and the steps go on with 0.1"
    )


def test_a_state_that_was_kept_and_not_loaded_is_named_by_its_key() -> None:
    kept = anew(first=0.05, rate=0.049, key="sched", kept=6, alike=True, variable="", scheduler="CosineAnnealingLR")
    found = schedule_begins_anew.match(job_of(kept))
    assert found is not None
    assert found.finding.title.endswith("had come from a rate of 0.1 to 0.05, from where it takes the whole way again")
    assert found.finding.evidence[1].observed == (
        "had counted 0; `sched` of the checkpoint, which had counted 6, was loaded into no scheduler"
    )


@pytest.mark.parametrize(
    "other",
    [
        {"first": 0.05, "rate": 0.1},  # made before the load: it jumps with its first step
        {"first": 0.001},
        {"horizon": 12},  # ends with the 120 steps at 6 of 12, as 6 had been counted before
        {"horizon": 12, "first": 0.05, "rate": 0.049, "scheduler": "CosineAnnealingLR"},
        {"horizon": 40},
    ],
)
def test_jumps_of_either_way_and_schedules_for_the_whole_run_are_told(other: dict[str, Any]) -> None:
    assert schedule_begins_anew.match(job_of(anew(**other))) is not None


@pytest.mark.parametrize(
    ("other", "code"),
    [
        ({"variable": "", "counted": 0}, 0),  # nothing goes on
        # The program gave the optimizer another rate itself.
        ({"key": "sched", "kept": 6, "alike": True, "variable": "", "scheduler": "CosineAnnealingLR"}, 0),
        ({"first": 0.05, "rate": 0.002}, 0),  # a function that was set on to where it had come
        ({"horizon": 12, "first": 0.05, "rate": 0.049}, 0),
        ({"first": 0.051, "rate": 0.048}, 0),  # the rate goes on
        ({"first": 0.05, "rate": 0.005, "scheduler": "StepLR"}, 0),  # a step down
        ({"horizon": 6}, 0),  # made for what is left
        ({"horizon": 12}, None),  # it is not known yet
        ({"horizon": 40, "first": 0.05, "rate": 0.049}, 0),
        ({"variable": "", "key": "sched", "kept": 6, "alike": False}, 0),  # another schedule
        ({"variable": "", "key": "sched", "kept": 1, "alike": True}, 0),
    ],
)
def test_rates_that_go_on_and_schedules_for_what_is_left_are_not_told(other: dict[str, Any], code: int | None) -> None:
    assert schedule_begins_anew.match(job_of(anew(**other), code=code)) is None
