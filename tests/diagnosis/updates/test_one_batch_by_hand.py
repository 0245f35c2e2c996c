"""Loaders that are begun anew for each step: the same batch each time is told, other batches and one on purpose not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hand_made import a_job
from made_batches import one_pass, rank, source

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.updates import one_batch_for_ever
from diagnostics.dynamic.job.job import Job

TRAIN = """\
loader = DataLoader(songs, batch_size=4)
for step in range(40):
    batch = next(iter(loader))
"""
SAME = [(0, 1, 2, 3)] * 26
SHUFFLED = [(number, number + 1, number + 2, number + 3) for number in range(26)]


def passes_of(folder: Path, batches: Sequence[tuple[int, ...]], length: str = "400", *, ended: bool = False) -> Job:
    """Returns the job of one rank whose loader made a pass for each of these batches."""
    passes = [one_pass(number, samples, ended=ended) for number, samples in enumerate(batches)]
    one = rank(0, source(*passes, at=f"{folder}/train.py:1", length=length))
    return a_job(one, code=0, cwd=folder, files={"train.py": TRAIN})


def test_the_same_first_batch_in_each_step_is_told_with_the_line_that_begins_the_loader_anew(tmp_path: Path) -> None:
    found = one_batch_for_ever.match(passes_of(tmp_path, SAME))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations[0]) == ("duplicate-data", (0,), "train.py:3")
    assert found.finding.confidence is Confidence.CONFIRMED
    assert found.finding.title == (
        "Each step trains on the same 4 samples of 400: the loader is begun anew at train.py:3 for each batch"
    )


@pytest.mark.parametrize(
    ("batches", "length", "ended"),
    [(SHUFFLED, "400", False), (SAME[:12], "400", False), (SAME, "4", False), (SAME, "400", True)],
    ids=["other batches", "a few steps", "a data set of one batch", "whole passes"],
)
def test_what_is_no_single_batch_for_ever_is_left_alone(
    tmp_path: Path, batches: list[tuple[int, ...]], length: str, ended: bool
) -> None:
    assert one_batch_for_ever.match(passes_of(tmp_path, batches, length, ended=ended)) is None
