"""Gradients that are clipped behind the step are told with both lines."""

from __future__ import annotations

from hand_made import a_job, a_process, agent, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.updates import gradients_clipped_late
from diagnostics.record.marks.loss_marks import ClippedLate
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import Mark

LATE = ClippedLate(run=20, limit=1.0, path=frames("train.py:9", "train.py:20"), stepped=frames("train.py:8"))


def test_the_clipping_and_the_step_before_it_are_named_and_without_it_nothing_is() -> None:
    def matched(*marks: Mark):
        ranks = [
            a_process(100 + one, rank=one, agent=agent(pid=100 + one, steps=40), prints=ParameterPrints(marks=marks))
            for one in (0, 1)
        ]
        return gradients_clipped_late.match(a_job(*ranks, code=0))

    found = matched(LATE)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.finding.confidence) == (
        "gradients-lost", (0, 1), Confidence.CONFIRMED,
    )  # fmt: skip
    assert found.locations == ("train.py:9", "train.py:8", "train.py:20")
    assert found.finding.title == (
        "Gradients are clipped to 1 at train.py:9 after the step at train.py:8 that used them, 20 steps in a row: the "
        "limit holds for no step"
    )
    assert matched() is None
