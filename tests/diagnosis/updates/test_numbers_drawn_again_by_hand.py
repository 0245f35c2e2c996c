"""Numbers that are drawn again: the line that seeds is named, where it is the program's own."""

from __future__ import annotations

from pathlib import Path

from hand_made import a_job, a_process, agent, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.randomness import numbers_drawn_again
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.run_marks import DrawnAgain
from diagnostics.record.parameter_prints import ParameterPrints


def a_run(folder: Path, *places: str, seed: int | None = 0) -> Job:
    path = frames(*(f"{folder}/{place}" for place in places))
    mark = DrawnAgain(optimizer=0, step=76, run=6, seed=seed, path=path)
    ranks = (
        a_process(100 + rank, rank=rank, agent=agent(pid=100 + rank, steps=96), prints=ParameterPrints(marks=(mark,)))
        for rank in range(2)
    )
    return a_job(*ranks, code=0, cwd=folder, files={"train.py": "evaluate(seed_everything(0))\n" * 9})


def test_the_line_that_seeds_is_named_for_all_ranks(tmp_path: Path) -> None:
    found = numbers_drawn_again.match(a_run(tmp_path, "train.py:3", "train.py:8", "train.py:9"))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations, found.finding.confidence) == (
        "rng-collision", (0, 1), ("train.py:3", "train.py:8"), Confidence.LIKELY,
    )  # fmt: skip
    assert found.finding.title == (
        "The training draws the same random numbers over and over: train.py:3 seeds torch's own generator with 0 each "
        "time"
    )


def test_a_seed_of_no_known_number_is_told_without_it_and_one_of_nobody_is_not(tmp_path: Path) -> None:
    found = numbers_drawn_again.match(a_run(tmp_path, "train.py:3", seed=None))
    assert found is not None
    assert found.finding.title.endswith("train.py:3 seeds torch's own generator each time")
    assert numbers_drawn_again.match(a_run(tmp_path)) is None
