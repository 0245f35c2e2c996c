"""CTC losses that leave out samples: a tenth and more is told, of all ranks together; a rare one is not."""

from __future__ import annotations

from pathlib import Path

from hand_made import a_job, a_process, agent, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.updates import targets_out_of_reach
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.loss_marks import TargetsUnreachable
from diagnostics.record.parameter_prints import ParameterPrints


def a_run(folder: Path, *short: int, place: str = "train.py:4") -> Job:
    path = frames(f"{folder}/{place}") if place else ()
    ranks = (
        a_process(
            100 + rank,
            rank=rank,
            agent=agent(pid=100 + rank, steps=96),
            prints=ParameterPrints(marks=(TargetsUnreachable(calls=10, samples=320, short=count, path=path),)),
        )
        for rank, count in enumerate(short)
    )
    return a_job(*ranks, code=0, cwd=folder, files={"train.py": "loss = criterion(scores, labels, n, m)\n" * 9})


def test_the_share_is_that_of_the_ranks_that_leave_out_many(tmp_path: Path) -> None:
    found = targets_out_of_reach.match(a_run(tmp_path, 128, 64))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.locations, found.finding.confidence) == (
        "gradients-lost", (0, 1), ("train.py:4",), Confidence.CONFIRMED,
    )  # fmt: skip
    assert found.finding.evidence[0].observed == "192 of 640 samples have fewer frames than labels"


def test_a_loss_of_nobodys_line_is_told_without_one(tmp_path: Path) -> None:
    found = targets_out_of_reach.match(a_run(tmp_path, 128, place=""))
    assert found is not None
    assert found.finding.title.startswith("The CTC loss leaves out 40% of the samples")


def test_a_rare_broken_recording_is_no_fault(tmp_path: Path) -> None:
    assert targets_out_of_reach.match(a_run(tmp_path, 31, 2)) is None
