"""A loss of which only the number is added to another is told with the line that adds it, and logs are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hand_made import a_job, a_process, agent, event, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.updates import loss_term_constant
from diagnostics.dynamic.job.job import Job
from diagnostics.record.marks.loss_marks import LossConstant
from diagnostics.record.parameter_prints import ParameterPrints

TRAIN = """\
def train():
    for x, y in loader:
        main, aux = losses(x, y)
        {added}
        loss.backward()
"""


def a_run(folder: Path, added: str, names: str = "aux", run: int = 2) -> Job:
    told = agent(event("optimizer", "", f"{folder}/train.py:4"), steps=40)
    mark = LossConstant(run=run, names=names, path=frames(f"{folder}/train.py:5"))
    process = a_process(100, rank=0, agent=told, prints=ParameterPrints(marks=(mark,)))
    return a_job(process, code=0, cwd=folder, files={"train.py": TRAIN.format(added=added)})


@pytest.mark.parametrize(
    "added",
    [
        "loss = main + 0.1 * aux.item()",
        "loss = main; loss += aux.detach().cpu().numpy()",
        "loss = main - float(aux) * 2",
        "total = main + aux.item(); loss = total / 4",
    ],
)
def test_the_line_that_adds_the_number_is_named(added: str, tmp_path: Path) -> None:
    found = loss_term_constant.match(a_run(tmp_path, added))
    assert found is not None
    assert (found.failure_class, found.finding.confidence) == ("wrong-loss", Confidence.LIKELY)
    assert found.locations == ("train.py:4", "train.py:5")
    assert found.finding.title.startswith("Nothing is learnt from aux: at train.py:4 its number is added to ")


@pytest.mark.parametrize(
    "added",
    [
        "loss = main + aux.detach()",
        "loss = main + aux; running += aux.item()",
        "loss = main; mean = running + aux.item()",
        "loss = main * (1 / aux.item())",
        "loss = 0 + main",
    ],
)
def test_numbers_that_are_no_term_of_the_loss_are_left_alone(added: str, tmp_path: Path) -> None:
    assert loss_term_constant.match(a_run(tmp_path, added)) is None


def test_another_name_and_a_single_look_are_not_enough(tmp_path: Path) -> None:
    added = "loss = main + aux.item()"
    assert loss_term_constant.match(a_run(tmp_path, added, names="other")) is None
    assert loss_term_constant.match(a_run(tmp_path, added, run=1)) is None
