"""Weights that were loaded and drawn anew are told with the line that draws them."""

from __future__ import annotations

from pathlib import Path

from hand_made import a_job, a_process, agent, event, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.updates import loaded_weights_overwritten
from diagnostics.record.marks.loss_marks import LoadOverwritten
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import Mark

TRAIN = """\
def build(path):
    net = Net()
    net.load_state_dict(torch.load(path))
    net.apply(draw)
    return net
"""


def test_the_line_that_draws_them_anew_is_named_and_without_a_mark_nothing_is(tmp_path: Path) -> None:
    def matched(*marks: Mark):
        told = agent(event("optimizer", "", f"{tmp_path}/train.py:5"), steps=40)
        process = a_process(100, rank=0, agent=told, prints=ParameterPrints(marks=marks))
        return loaded_weights_overwritten.match(a_job(process, code=0, cwd=tmp_path, files={"train.py": TRAIN}))

    found = matched(LoadOverwritten("Net", 5, 5, frames(f"{tmp_path}/train.py:3")))
    assert found is not None
    assert (found.failure_class, found.finding.confidence) == ("checkpoint-not-loaded", Confidence.LIKELY)
    assert found.locations == ("train.py:4", "train.py:3")
    assert found.finding.title == (
        "The weights that were loaded into Net at train.py:3 were drawn anew before the first step: 5 of 5 tensors "
        "have nothing in common with what was loaded"
    )
    assert matched() is None
