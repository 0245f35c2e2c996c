"""Steps on a loss that is NaN are told with the variable that was NaN first."""

from __future__ import annotations

from pathlib import Path

from hand_made import a_job, a_process, agent, frames

from diagnostics.core.findings import Confidence
from diagnostics.diagnosis.signature import Match
from diagnostics.diagnosis.updates import stepped_on_nan
from diagnostics.record.marks.loss_marks import NanSteps
from diagnostics.record.parameter_prints import ParameterPrints
from diagnostics.record.training_marks import Mark

SOURCE = """\
def update(roll):
    ret = roll["ret"]
    adv = normalize(roll["adv"])
    loss = (adv * ret).mean()
    opt.zero_grad()
    loss.backward()
    for p in params:
        torch.nan_to_num_(p.grad)
    opt.step()
"""


def matched(folder: Path, *marks: Mark) -> Match | None:
    """Returns what is said of two ranks, the second of which told these marks."""
    ranks = [
        a_process(100 + one, rank=one, agent=agent(pid=100 + one, steps=80), prints=ParameterPrints(marks=told))
        for one, told in ((0, ()), (1, marks))
    ]
    return stepped_on_nan.match(a_job(*ranks, code=0, cwd=folder, files={"ppo.py": SOURCE}))


def test_the_rank_that_steps_on_nan_and_the_first_variable_that_holds_it_are_named(tmp_path: Path) -> None:
    mark = NanSteps(run=64, step=64, names="loss adv", path=frames(f"{tmp_path}/ppo.py:6"))
    found = matched(tmp_path, mark)
    assert found is not None
    assert (found.failure_class, found.culprit_ranks, found.finding.confidence) == (
        "nan-on-rank", (1,), Confidence.CONFIRMED,
    )  # fmt: skip
    assert found.locations[0] == "ppo.py:3"
    assert found.finding.title == (
        "backward() at ppo.py:6 began at a loss of NaN in 64 steps in a row, up to step 64, and each step was made; "
        "adv is the first variable there to hold NaN"
    )


def test_without_a_variable_the_line_that_called_backward_is_named(tmp_path: Path) -> None:
    found = matched(tmp_path, NanSteps(run=32, step=40, names="", path=frames(f"{tmp_path}/ppo.py:6")))
    assert found is not None
    assert "ppo.py:6" in found.locations
    assert found.finding.title.endswith("and each step was made")


def test_without_the_mark_nothing_is_said(tmp_path: Path) -> None:
    assert matched(tmp_path) is None
