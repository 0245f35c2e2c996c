"""Lengths that end batches early: told where batches of several sizes were seen, with the lines that shorten them."""

from __future__ import annotations

from pathlib import Path

from hand_made import a_job, a_process, agent, frames

from diagnostics.diagnosis.updates import frames_never_heard
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.loss_marks import FramesUnheard
from diagnostics.record.parameter_prints import ParameterPrints

TEXT = """\
lengths = (lengths - 3) // 2 + 1
output_lengths = lengths >> 2
loss = criterion(scores, labels, output_lengths, sizes)
"""


def a_run(folder: Path, *, sizes: int = 9, place: str = "train.py:3") -> Job:
    mark = FramesUnheard(
        function="ctc_loss", calls=20, sizes=sizes, share=0.24, frames=61, longest=14,
        path=frames(f"{folder}/{place}") if place else (),
    )  # fmt: skip
    prints, argv = ParameterPrints(marks=(mark,)), ("python", f"{folder}/train.py")
    process = a_process(agent=agent(steps=96), prints=prints, argv=argv, cwd=str(folder))
    return a_job(process, code=0, cwd=folder, files={"train.py": TEXT})


def test_the_loss_and_what_shortens_the_lengths_are_named(tmp_path: Path) -> None:
    found = frames_never_heard.match(a_run(tmp_path))
    assert found is not None
    assert (found.failure_class, found.culprit_ranks) == ("wrong-loss", (0,))
    assert found.locations == ("train.py:3", "train.py:1", "train.py:2")
    assert found.finding.evidence[0].observed == "14 of 61 in the latest, at most 24% in each"
    assert found.finding.fix is not None
    assert "train.py:1, train.py:2 shorten lengths" in found.finding.fix.text


def test_a_call_of_nobodys_line_is_told_without_one(tmp_path: Path) -> None:
    found = frames_never_heard.match(a_run(tmp_path, place=""))
    assert found is not None
    assert found.finding.title.startswith("The lengths given to ctc_loss end every batch at 24% of its frames")


def test_batches_of_few_sizes_are_padded_to_a_maximum(tmp_path: Path) -> None:
    assert frames_never_heard.match(a_run(tmp_path, sizes=3)) is None
