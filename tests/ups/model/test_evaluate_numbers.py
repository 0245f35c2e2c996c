"""The numbers of an evaluation, against numpy and against the surrogate itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from evaluated_run import FRAMES, make_run, trajectories

from ups.checkpoint import load_best
from ups.evaluate import chosen_samples, evaluate, finite, open_for


@pytest.fixture(scope="module")
def best(tmp_path_factory):
    return load_best(make_run(tmp_path_factory.mktemp("run")))


def nrmse(predicted, true):
    return float(np.mean(np.sqrt(((predicted - true) ** 2).mean(-1)) / np.sqrt((true**2).mean(-1))))


def measured(best, split="test"):
    spec = open_for(best)
    return evaluate(best, spec, chosen_samples(best, spec, split, None), split)


def test_persistence_is_the_input_frame_in_one_step_and_the_first_frame_in_a_rollout(best):
    numbers, u = measured(best, "all").numbers, trajectories()
    assert numbers["one_step"]["persistence"]["nRMSE"] == pytest.approx(nrmse(u[:, :-1], u[:, 1:]), rel=1e-5)
    assert numbers["rollout"]["persistence"]["nRMSE"] == pytest.approx(nrmse(u[:, :1], u[:, 1:]), rel=1e-5)


def test_the_autoencoder_is_the_floor_of_an_operator_that_does_nothing(best):
    """The untrained operator is persistence in latent space: what it adds is the wrong frame, decoded."""
    u, surrogate = trajectories(), best.surrogate()
    with torch.inference_mode():
        flat = torch.from_numpy(u).reshape(-1, u.shape[-1], 1)
        again = surrogate.decode(surrogate.encode(flat)).reshape(u.shape).numpy()
    numbers = measured(best, "all").numbers
    assert numbers["one_step"]["autoencoder"]["nRMSE"] == pytest.approx(nrmse(again[:, 1:], u[:, 1:]), rel=1e-4)
    assert numbers["one_step"]["model"]["nRMSE"] == pytest.approx(nrmse(again[:, :-1], u[:, 1:]), rel=1e-4)
    assert numbers["rollout"]["model"]["nRMSE"] == pytest.approx(nrmse(again[:, :1], u[:, 1:]), rel=1e-4)


def test_an_evaluation_says_what_was_measured_on_what(best):
    numbers = measured(best).numbers
    said = {name: numbers[name] for name in ("task", "parameters", "split", "samples", "grid", "frames", "time_step")}
    assert said == {
        "task": "advection1d",
        "parameters": {"beta": 0.4},
        "split": "test",
        "samples": 1,
        "grid": [16],
        "frames": FRAMES,
        "time_step": pytest.approx(0.25),
    }
    assert numbers["rollout"]["times"] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert {name: len(values) for name, values in numbers["rollout"]["nrmse_by_time"].items()} == {
        "model": 4,
        "persistence": 4,
        "autoencoder": 4,
    }


def test_a_steady_problem_is_compared_with_the_mean_solution_of_the_training_split(tmp_path):
    best = load_best(make_run(tmp_path, "darcy2d"))
    spec = open_for(best)
    evaluation = evaluate(best, spec, chosen_samples(best, spec, "test", None), "test")
    assert list(evaluation.numbers["one_step"]) == ["model", "mean_field", "autoencoder"]
    assert "rollout" not in evaluation.numbers
    import h5py

    with h5py.File(spec.path) as file:
        u = file["tensor"][:, 0]
    error, true = u[2:].mean(0) - u[0], u[0]
    expected = np.sqrt((error**2).mean()) / np.sqrt((true**2).mean())
    assert evaluation.numbers["one_step"]["mean_field"]["nRMSE"] == pytest.approx(float(expected), rel=1e-5)
    assert evaluation.examples[0].given is not None


def test_a_long_rollout_decodes_in_parts_what_it_decodes_at_once(best, monkeypatch):
    surrogate, u0 = best.surrogate(), torch.from_numpy(trajectories()[:, 0, :, None])
    with torch.inference_mode():
        whole = surrogate.rollout(u0, [0.0, 0.25, 0.5])
        monkeypatch.setattr("ups.models.surrogate.DECODED_AT_ONCE", 3)
        assert torch.allclose(surrogate.rollout(u0, [0.0, 0.25, 0.5]), whole, atol=1e-6)
    assert whole.shape == (10, 2, 16, 1)


def test_a_surrogate_decodes_between_the_cells_too(best):
    surrogate, u0 = best.surrogate(), torch.from_numpy(trajectories()[:2, 0, :, None])
    assert surrogate.decode(surrogate.encode(u0), torch.rand(7, 1)).shape == (2, 7, 1)


def test_what_json_cannot_say_becomes_null():
    assert finite({"a": [1.0, float("nan")], "b": {"c": float("inf")}, "d": "x"}) == {
        "a": [1.0, None],
        "b": {"c": None},
        "d": "x",
    }
