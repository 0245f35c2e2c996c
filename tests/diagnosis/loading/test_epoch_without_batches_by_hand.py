"""Epochs that yield no batch: told where others over the same loader yield some; the rest of an old one is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job
from made_batches import one_pass, rank, source

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.loading import epoch_without_batches
from diagnostics.dynamic.job.job import Job
from diagnostics.record.batch_data import LoaderPass

PROGRAM = """\
sampler = Resumable(songs)
loader = DataLoader(songs, 4, sampler=sampler)
for epoch in range(first, 3):
    for batch in loader:
        train(batch)
"""


def passes(*counts: int, epoch: int | None = 0) -> tuple[LoaderPass, ...]:
    """Returns one pass of so many samples for each epoch from this one on."""
    return tuple(
        one_pass(number, range(count), epoch=None if epoch is None else epoch + number)
        for number, count in enumerate(counts)
    )


def a_run(folder: Path, last: Sequence[LoaderPass], earlier: Sequence[LoaderPass] = (), **facts: str) -> Job:
    at = {"at": f"{folder}/train.py:2", "sampler_at": f"{folder}/train.py:1", "sampler": "Resumable"}
    told = [rank(0, source(*one, **at, **facts)) for one in (earlier, last) if one]
    begun = [replace(one, pid=one.pid + 50 * number) for number, one in enumerate(told)]
    return replace(
        a_job(*begun, code=0, cwd=folder, files={"train.py": PROGRAM}), ranks=tuple(begun[-1:]), processes=tuple(begun)
    )


def test_an_epoch_that_a_restored_position_leaves_empty_is_told(tmp_path: Path) -> None:
    found = epoch_without_batches.match(a_run(tmp_path, passes(0, 40, epoch=1), passes(40)))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.finding.confidence) == (
        "loader-empty", (0,), Confidence.CONFIRMED,
    )  # fmt: skip
    assert found.locations == ("train.py:1", "train.py:2")
    assert found.finding.title == (
        "The training loader yields no batch in epoch 1, and 10 in another: the Resumable gives no index, and the "
        "epoch is over at once"
    )


@pytest.mark.parametrize("epoch", [0, None])
def test_an_epoch_behind_a_full_one_is_told(tmp_path: Path, epoch: int | None) -> None:
    assert epoch_without_batches.match(a_run(tmp_path, passes(40, 0, 40, epoch=epoch))) is not None


@pytest.mark.parametrize(
    ("last", "earlier", "facts"),
    [
        pytest.param(passes(0, 40, epoch=0), passes(40), {}, id="the rest of an epoch that was over"),
        pytest.param(passes(0, 40, epoch=1), (), {}, id="of what came before nothing is known"),
        pytest.param(passes(0, 40, epoch=None), passes(40, epoch=None), {}, id="epochs without a number"),
        pytest.param(passes(0, 40, epoch=1), passes(40, 40), {}, id="an epoch that the run before had begun"),
        pytest.param(passes(40, 40, 40), (), {}, id="full epochs"),
        pytest.param(passes(40, 0), (), {"kind": "iterable"}, id="a stream at its end"),
        pytest.param(passes(0, 0), (), {}, id="nothing in any pass"),
    ],
)
def test_what_may_be_empty_is_left_alone(
    tmp_path: Path, last: Sequence[LoaderPass], earlier: Sequence[LoaderPass], facts: dict[str, str]
) -> None:
    assert epoch_without_batches.match(a_run(tmp_path, last, earlier, **facts)) is None
