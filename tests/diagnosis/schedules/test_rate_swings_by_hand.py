"""A rate that swings: what is told by the passes over the loader and by the name of its end, and what says nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, frames
from made_batches import one_pass, source

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.schedules import rate_swings
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.run_marks import RateSwings
from diagnostics.record.parameter_prints import ParameterPrints

TRAIN = """\
scheduler = {scheduler}
for epoch in range(9):
    for x in loader:
        optimizer.step()
        scheduler.step()
"""
MARK = RateSwings(
    optimizer=0, step=154, turns=8, period=18, fell=9, low=0.0, high=0.1, scheduler="CosineAnnealingLR", stepped=153,
    horizon=9, made=(), path=(),
)  # fmt: skip


def a_run(folder: Path, mark: RateSwings, scheduler: str = "Cosine(opt, 9)", epochs: int = 9, steps: int = 64) -> Job:
    mark = replace(mark, made=frames(f"{folder}/train.py:1"), path=frames(f"{folder}/train.py:4"))
    passes = [one_pass(number, [1, 2], steps=steps) for number in range(epochs)]
    told = agent(steps=576, sources=(source(*passes),) if passes else ())
    process = a_process(rank=0, agent=told, prints=ParameterPrints(marks=(mark,)))
    return a_job(process, code=0, cwd=folder, files={"train.py": TRAIN.format(scheduler=scheduler)})


def test_the_schedule_and_the_line_that_steps_it_are_named(tmp_path: Path) -> None:
    found = rate_swings.match(a_run(tmp_path, MARK))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.finding.confidence) == (
        "wrong-schedule", (0,), Confidence.LIKELY,
    )  # fmt: skip
    assert found.locations == ("train.py:1", "train.py:5", "train.py:4")
    assert found.finding.title == (
        "CosineAnnealingLR of train.py:1 is made for the 9 epochs and stepped with each batch: the rate comes down and "
        "goes up again every 18 steps, 8 times up to step 154"
    )


@pytest.mark.parametrize(
    "scheduler",
    ["Cosine(opt, T_max=cfg.epochs)", "Cosine(opt, args['num_epochs'], 0)", "Cosine(\n    opt,\n    n_epochs,\n)"],
)
def test_an_end_that_is_called_the_epochs_is_enough_where_passes_say_nothing(scheduler: str, tmp_path: Path) -> None:
    assert rate_swings.match(a_run(tmp_path, MARK, scheduler, epochs=0)) is not None
    assert rate_swings.match(a_run(tmp_path, MARK, scheduler, epochs=5)) is not None  # it stopped early
    assert rate_swings.match(a_run(tmp_path, MARK, scheduler, steps=1)) is None


@pytest.mark.parametrize(
    "scheduler",
    ["Cosine(opt, T_max=epochs * len(loader))", "Cosine(opt, T_max=cycle_epochs)", "Cosine(opt, T_max=epochs_a_cycle)"],
)
def test_an_end_of_another_name_is_not(scheduler: str, tmp_path: Path) -> None:
    assert rate_swings.match(a_run(tmp_path, MARK, scheduler, epochs=0)) is None


def test_a_warm_up_is_left_out_of_a_lambda_and_other_numbers_are_no_epochs(tmp_path: Path) -> None:
    warm = replace(MARK, scheduler="LambdaLR", fell=6)
    assert rate_swings.match(a_run(tmp_path, warm)) is not None
    for mark in (replace(warm, fell=3), replace(MARK, fell=6), replace(MARK, fell=12), replace(MARK, horizon=None)):
        assert rate_swings.match(a_run(tmp_path, mark)) is None
    assert rate_swings.match(a_run(tmp_path, MARK, epochs=30)) is None
    assert rate_swings.match(a_run(tmp_path, MARK, steps=9)) is None  # down in one epoch, up in the next
