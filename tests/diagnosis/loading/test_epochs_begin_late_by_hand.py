"""Epochs that leave out their first batches each time: told; one shortened epoch, a peek, a reader of its own: not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hand_made import a_job
from made_batches import batch, one_pass, rank, source

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.loading import epochs_begin_late
from diagnostics.dynamic.job.job import Job
from diagnostics.record.batch_data import LoaderPass

SKIPS = """\
loader = DataLoader(songs, 4)
for epoch in range(first, 5):
    if resume is not None:
        active = skip_first_batches(loader, resume)
    for step, batch in enumerate(active):
        train(batch)
"""
TESTS = """\
loader = DataLoader(songs, 4)
for epoch in range(first, 5):
    for step, batch in enumerate(loader):
        if step < resume:
            continue
        train(batch)
"""
SLICES = """\
def rest_of(loader, count):
    return islice(iter(loader), count, None)
"""


def a_late(number: int, skipped: int, batches: int = 10, evaluated: bool = False, **fields: object) -> LoaderPass:
    log = tuple(
        batch(at, range(4 * at, 4 * at + 4), trained=at >= skipped, evaluated=evaluated and at < skipped)
        for at in range(batches)
    )
    trained = batches - skipped
    return one_pass(number, range(4 * batches), **{"log": log, "trained": trained, "steps": trained, **fields})


def a_run(folder: Path, passes: Sequence[LoaderPass], text: str = SKIPS) -> Job:
    ranks = (rank(number, source(*passes, at=f"{folder}/train.py:1")) for number in range(2))
    return a_job(*ranks, code=0, cwd=folder, files={"train.py": text})


@pytest.mark.parametrize(("text", "line"), [(SKIPS, 4), (TESTS, 4), (SLICES, 2)])
def test_the_line_that_skips_is_named(tmp_path: Path, text: str, line: int) -> None:
    found = epochs_begin_late.match(a_run(tmp_path, [a_late(0, 4), a_late(1, 4)], text))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations, found.finding.confidence) == (
        "loader-empty", (0, 1), (f"train.py:{line}", "train.py:1"), Confidence.CONFIRMED,
    )  # fmt: skip
    assert found.finding.title == (
        f"Each epoch leaves out its first 4 of 10 batches, by train.py:{line}: what one interrupted epoch had done is "
        "skipped in all that follow"
    )


def test_without_a_line_that_skips_it_is_told_at_the_loader(tmp_path: Path) -> None:
    found = epochs_begin_late.match(a_run(tmp_path, [a_late(0, 4), a_late(1, 4)], "loader = DataLoader(songs, 4)\n"))
    assert found is not None
    assert found.locations == ("train.py:1",)


@pytest.mark.parametrize(
    "passes",
    [
        [a_late(0, 4), a_late(1, 0)],  # the rest of the interrupted epoch, then whole ones
        [a_late(0, 4)],
        [a_late(0, 1), a_late(1, 1)],  # a peek, a warm-up
        [a_late(0, 4), a_late(1, 3)],
        [a_late(0, 4, evaluated=True), a_late(1, 4, evaluated=True)],  # calibrated, and then trained
        [a_late(0, 2, batches=100), a_late(1, 2, batches=100)],  # a fiftieth
        [a_late(0, 4), a_late(2, 4)],  # something else came between
        [a_late(0, 4), a_late(1, 4, ended=False)],
        [a_late(0, 10), a_late(1, 10)],  # nothing of it is trained on
    ],
)
def test_what_leaves_out_nothing_for_good_is_not_told(tmp_path: Path, passes: list[LoaderPass]) -> None:
    assert epochs_begin_late.match(a_run(tmp_path, passes)) is None
