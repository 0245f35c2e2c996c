"""Which line decides when an optimizer is made: the factory's own, or where it is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.dynamic.model.given_parameters import deciding_frame
from tests.hand_made import a_job, a_process, frames

PROGRAM = """\
def make(model, config):
    matrices = [one for one in model.parameters() if one.ndim > 1]
    groups = [{{"params": matrices, "decay": config["decay"]}}]
    return SGD({groups}, lr=config["lr"])
def build(config):
    model = Net(config["width"])
    optimizer = make(model, config)
    model.adapt()
    return model, optimizer
class Trainer:
    def __init__(self, config):
        self.model, self.optimizer = build(config)
"""


@pytest.mark.parametrize(
    ("groups", "index"),
    [
        ("groups", 1),
        ("matrices", 1),
        ("filter(lambda one: one.requires_grad, model.parameters())", 1),
        ("model.parameters()", 1),
        ("Net(config).parameters()", 0),
        ("NET.parameters()", 0),
    ],
)
def test_a_factory_that_is_given_its_model_is_decided_by_its_caller(tmp_path: Path, groups: str, index: int) -> None:
    job = a_job(a_process(), cwd=tmp_path, files={"train.py": PROGRAM.format(groups=groups)})
    path = frames(*(f"{tmp_path}/train.py:{line}" for line in (4, 7, 12)))
    assert deciding_frame(job, path) == index
