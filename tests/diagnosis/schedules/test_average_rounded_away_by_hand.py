"""An average that rounding holds: what is told of it, and which windows say that it moves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.schedules import average_rounded_away
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.object_marks import AverageRounded
from diagnostics.record.parameter_prints import ParameterPrints

EMA = """\
class Ema:
    def __init__(self, net, dtype):
        self.shadow = [p.detach().to(dtype) for p in net.parameters()]
    def step(self, net):
        for s, p in zip(self.shadow, net.parameters()):
            s.lerp_(p.to(s.dtype), 0.005)
"""


def job_of(folder: Path, *windows: tuple[int, int, int]) -> Job:
    """Returns the job of one rank that told (last step, numbers far from their weight, moved) of each window."""
    mark = AverageRounded(
        step=60, steps=40, held="ema.shadow", name="shadow", owner="Ema", file=f"{folder}/ema.py", tensors=4,
        kind="torch.bfloat16", far=200, moved=10, path=frames(f"{folder}/ema.py:4"),
    )  # fmt: skip
    marks = tuple(replace(mark, step=step, far=far, moved=moved) for step, far, moved in windows)
    rank = a_process(agent=agent(steps=200), prints=ParameterPrints(marks=marks), argv=("ema.py",), cwd=str(folder))
    return a_job(rank, code=0, cwd=folder, files={"ema.py": EMA})


def test_the_average_and_the_lines_that_make_and_write_it_are_named(tmp_path: Path) -> None:
    found = average_rounded_away.match(job_of(tmp_path, (60, 200, 10), (180, 240, 12)))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "zero-progress", (0,), ("ema.py:3", "ema.py:6", "ema.py:4"),
    )  # fmt: skip
    assert found.finding.title == (
        "ema.shadow follows the weights in bfloat16 and is lost in its rounding: of 240 numbers that are far from "
        "their weight 12 moved in 40 steps"
    )


@pytest.mark.parametrize(
    "windows",
    [
        ((60, 200, 10),),
        ((60, 200, 10), (180, 60, 0)),
        ((60, 200, 10), (180, 240, 130)),
        ((60, 200, 110), (180, 240, 10)),
    ],
)
def test_one_window_few_numbers_and_an_average_that_moves_in_any_are_not_told(
    tmp_path: Path, windows: tuple[tuple[int, int, int], ...]
) -> None:
    assert average_rounded_away.match(job_of(tmp_path, *windows)) is None
