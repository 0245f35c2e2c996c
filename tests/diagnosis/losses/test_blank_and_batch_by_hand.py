"""A CTC loss that is given its blank, and a layer that goes over the batch: what is told of them, and what is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.losses import batch_taken_for_time, blank_among_targets
from diagnostics.dynamic.job.job import Job
from diagnostics.record.batch_data import BatchSource, SourceKind
from diagnostics.record.marks.loss_marks import BlankTargets
from diagnostics.record.marks.model_marks import BatchAsTime
from diagnostics.record.parameter_prints import ParameterPrints

TRAIN = """\
criterion = nn.CTCLoss(blank=0)
layer = nn.LSTM(8, 16)
loss = criterion(layer(x), y, lengths, sizes)
"""


def job_of(folder: Path, mark: BlankTargets | BatchAsTime, *sources: BatchSource) -> Job:
    """Returns the job of one rank that told this."""
    prints = ParameterPrints(marks=(mark,))
    rank = a_process(agent=agent(steps=80, sources=sources), prints=prints, argv=("train.py",), cwd=str(folder))
    return a_job(rank, code=0, cwd=folder, files={"train.py": TRAIN})


def blanks(folder: Path, number: int) -> BlankTargets:
    return BlankTargets(calls=6, labels=400, blanks=number, blank=0, path=frames(f"{folder}/train.py:3"))


def test_the_share_of_labels_that_are_the_blank_is_told_at_the_loss(tmp_path: Path) -> None:
    found = blank_among_targets.match(job_of(tmp_path, blanks(tmp_path, 48)))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "wrong-loss", (0,), ("train.py:3", "train.py:1"),
    )  # fmt: skip
    assert found.finding.title == (
        "12% of the labels given to the CTC loss at train.py:3 are 0, its blank: what has this number is trained as "
        "nothing and is never read out"
    )


@pytest.mark.parametrize("number", [0, 3])
def test_a_label_in_a_hundred_may_be_a_slip(tmp_path: Path, number: int) -> None:
    assert blank_among_targets.match(job_of(tmp_path, blanks(tmp_path, number))) is None


def over_the_batch(folder: Path, *, picked: bool = True, run: int = 3) -> BatchAsTime:
    return BatchAsTime(
        run=run, layer="LSTM", rows=32, steps=24, given="32x24x8", picked=picked, path=frames(f"{folder}/train.py:3")
    )


def loader(sampler: str, size: int = 32) -> BatchSource:
    facts = {"batch_size": str(size), "sampler": sampler}
    return BatchSource(kind=SourceKind.LOADER, built=(), sampler=(), facts=facts, passes=())


def test_a_layer_without_batch_first_is_told_where_it_is_made_and_called(tmp_path: Path) -> None:
    found = batch_taken_for_time.match(job_of(tmp_path, over_the_batch(tmp_path)))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations) == (
        "wrong-loss", (0,), ("train.py:2", "train.py:3"),
    )  # fmt: skip
    assert found.finding.title == (
        "LSTM at train.py:3 goes over the 32 samples of the batch as if they were time: it is given 32x24x8 without "
        "batch_first, and the 24 steps of each sample count as 24 samples"
    )


@pytest.mark.parametrize(
    ("sampler", "size", "run", "told"),
    [
        ("RandomSampler", 32, 3, True),
        ("SequentialSampler", 32, 3, False),
        ("RandomSampler", 24, 3, False),
        ("RandomSampler", 32, 1, False),
    ],
)
def test_where_no_step_is_picked_a_loader_has_to_shuffle_as_many_samples(
    tmp_path: Path, sampler: str, size: int, run: int, told: bool
) -> None:
    mark = replace(over_the_batch(tmp_path, picked=False), run=run)
    assert (batch_taken_for_time.match(job_of(tmp_path, mark, loader(sampler, size))) is not None) is told
