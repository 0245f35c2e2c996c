"""Which line chose the model that a helper calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnostics.dynamic.model.chosen_models import choosing_frame
from tests.hand_made import a_job, frames

HELPERS = """
def scores(policy, batch):
    return policy(batch)
class Learner:
    def step(self, batch):
        return scores(self.bare, batch)
    def named(self, batch):
        return scores(batch=batch, policy=self.bare)
    def own(self, batch):
        return self.bare(batch)
    def handed(self, model, batch):
        return scores(model, batch)
    def run(self, batch):
        return self.handed(self.wrapped, batch)
class Net:
    def loss(self, batch):
        return self(batch)
def fit(net, batch):
    return net.loss(batch)
def main(batches, args):
    fit(make(), next(batches))
    scores(*args)
"""


@pytest.mark.parametrize(
    ("path", "chosen"),
    [
        (("train.py:3", "train.py:6"), 1),  # an attribute of the caller
        (("train.py:3", "train.py:8"), 1),  # the same by name
        (("train.py:10", "train.py:6"), 0),  # the call itself names it
        (("train.py:3", "train.py:12", "train.py:14"), 2),  # handed on once more
        (("train.py:17", "train.py:19", "train.py:21"), 2),  # a method calls its own object
        (("train.py:3", "train.py:22"), 0),  # what the caller gives is not seen
        (("train.py:3",), 0),
        ((), 0),
    ],
)
def test_the_line_that_hands_the_model_in_is_found_as_far_out_as_it_is_a_parameter(
    path: tuple[str, ...], chosen: int, tmp_path: Path
) -> None:
    job = a_job(cwd=tmp_path, files={"train.py": HELPERS})
    assert choosing_frame(job, frames(*path)) == chosen
