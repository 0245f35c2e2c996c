"""Last windows that no step takes: told where the same samples are never used, or where they are many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, frames
from made_batches import one_pass, rank, source

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.loading import last_window_dropped
from diagnostics.diagnosis.signature import Match
from diagnostics.record.marks.loss_marks import DroppedWindows
from diagnostics.record.parameter_prints import ParameterPrints

PROGRAM = """\
for epoch in range(9):
    optimizer.zero_grad()
    for i, batch in enumerate(loader):
        should = (i + 1) % 8 == 0
        loss_of(batch).backward()
        if should:
            clip(model)
            optimizer.step()
"""
MARK = DroppedWindows(
    optimizer=0, step=24, drops=6, lost=7, every=31, size=8, path=frames("/job/train.py:8"),
    backward=frames("/job/train.py:5"),
)  # fmt: skip


def match_of(folder: Path, mark: DroppedWindows, orders: tuple[int, int] = (0, 0)) -> Match | None:
    mark = replace(mark, path=frames(f"{folder}/train.py:8"), backward=frames(f"{folder}/train.py:5"))
    passes = [one_pass(number, [*range(first, 40), *range(first)]) for number, first in enumerate(orders)]
    ranks = (replace(rank(number, source(*passes)), prints=ParameterPrints(marks=(mark,))) for number in range(2))
    return last_window_dropped.match(a_job(*ranks, code=0, cwd=folder, files={"train.py": PROGRAM}))


def test_samples_that_no_step_uses_are_told_at_the_test_of_the_step(tmp_path: Path) -> None:
    found = match_of(tmp_path, MARK)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations, found.finding.confidence) == (
        "gradients-lost", (0, 1), ("train.py:6", "train.py:8", "train.py:5"), Confidence.CONFIRMED,
    )  # fmt: skip
    assert found.finding.title == (
        "The last 7 of each 31 backward passes are thrown away: a step takes 8, and the gradients of fewer are "
        "cleared; they are the same samples each time, and no step uses them"
    )


def test_many_are_told_whatever_their_order_is(tmp_path: Path) -> None:
    found = match_of(tmp_path, replace(MARK, every=15), (0, 8))
    assert found is not None
    assert found.finding.title.endswith("a step takes 8, and the gradients of fewer are cleared")


@pytest.mark.parametrize(
    ("mark", "orders"),
    [
        pytest.param(MARK, (0, 8), id="others each time, and not many"),
        pytest.param(replace(MARK, every=151), (0, 0), id="next to nothing"),
        pytest.param(replace(MARK, every=7), (0, 0), id="no step between"),
    ],
)
def test_what_does_little_harm_is_left_alone(tmp_path: Path, mark: DroppedWindows, orders: tuple[int, int]) -> None:
    assert match_of(tmp_path, mark, orders) is None
