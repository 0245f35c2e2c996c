"""The pictures: which are drawn, that they are pictures, and that they survive a diverged rollout."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evaluated_run import make_run

from ups.checkpoint import load_best
from ups.errors import DoctorError
from ups.evaluate import Example, chosen_samples, evaluate, finite, open_for
from ups.plots import draw, fields, profiles

RECORDS = [{"kind": "epoch", "stage": "operator", "epoch": 0, "train_loss": 0.5, "validation_nrmse": 0.1}]


@pytest.fixture(scope="module", params=["advection1d", "darcy2d"])
def evaluation(request, tmp_path_factory):
    best = load_best(make_run(tmp_path_factory.mktemp("run"), request.param))
    spec = open_for(best)
    return evaluate(best, spec, chosen_samples(best, spec, "all", 4), "all")


def test_each_kind_of_problem_gets_its_pictures(evaluation, tmp_path):
    paths = draw(evaluation, RECORDS, tmp_path)
    steady = ["fields.png", "learning_curves.png"]
    moving = ["fields.png", "profiles.png", "error_over_time.png", "learning_curves.png"]
    assert [path.name for path in paths] == (steady if evaluation.spec.kind == "steady" else moving)
    assert [path.read_bytes()[:4] for path in paths] == [b"\x89PNG"] * len(paths)


def test_truth_and_prediction_share_their_colours_and_the_error_is_symmetric(evaluation):
    images = [axis.images[0] for axis in fields(evaluation).axes if axis.images]
    truth, prediction, error = images[-3:]
    assert truth.get_clim() == prediction.get_clim()
    assert error.get_clim()[0] == -error.get_clim()[1]


def test_every_row_names_its_sample(evaluation):
    drawn = [fields(evaluation)]
    if evaluation.spec.kind == "trajectory":
        drawn.append(profiles(evaluation.examples, evaluation.spec))
    for figure in drawn:
        labels = [axis.get_ylabel().split("\n")[0] for axis in figure.axes if axis.get_ylabel().startswith("sample")]
        assert labels == [f"sample {example.sample}" for example in evaluation.examples]


def test_a_rollout_that_diverged_is_still_drawn(evaluation, tmp_path):
    example = evaluation.examples[0]
    lost = Example(example.sample, example.truth, np.full_like(example.prediction, np.nan), example.given)
    numbers = evaluation.numbers
    if "rollout" in numbers:
        by_time = numbers["rollout"]["nrmse_by_time"] | {"model": [float("nan")] * 4}
        numbers = finite(numbers | {"rollout": numbers["rollout"] | {"nrmse_by_time": by_time}})
    assert draw(replace(evaluation, numbers=numbers, examples=(lost,)), [], tmp_path)


def test_a_folder_that_cannot_be_made_is_named(evaluation, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DoctorError, match="cannot write the picture"):
        draw(evaluation, [], tmp_path / "file" / "plots")
