"""A trained model on files of other people's resolution and time step."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import torch
from evaluated_run import FRAMES, make_run, trajectories, write_advection, write_darcy

from ups.checkpoint import load_best
from ups.errors import DataError
from ups.evaluate import chosen_samples, evaluate, open_for
from ups.forecasts.predict import Wish, predict
from ups.models.resampling import Resampling


def cells(count, first=0.5, start=0.0, length=1.0):
    return start + length * (np.arange(count) + first) / count


def wave(places, number=3):
    return torch.tensor(np.sin(2 * np.pi * number * places + 0.4), dtype=torch.float32)[None, :, None]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (cells(16), cells(48)),
        (cells(48), cells(16)),
        (cells(16), cells(21)),
        (cells(32, first=0.0), cells(16)),  # a grid that begins at 0, as files of other people have it
        (cells(32, start=-1.0, length=2.0), cells(16, start=-1.0, length=2.0)),
    ],
)
def test_waves_that_both_grids_resolve_arrive_as_they_are(old, new):
    length = round((old[-1] - old[0]) * len(old) / (len(old) - 1))
    moved = Resampling([old], [new], periodic=True)(wave(old / length))
    torch.testing.assert_close(moved, wave(new / length), rtol=0, atol=2e-6)


def test_waves_that_the_coarser_grid_does_not_resolve_vanish_and_do_not_come_back_as_others():
    assert Resampling([cells(64)], [cells(16)], periodic=True)(wave(cells(64), 13)).abs().max() < 1e-6


def test_with_edges_smooth_fields_are_interpolated_and_coefficients_keep_their_mean_and_their_values():
    fine, coarse = [cells(32), cells(24)], [cells(16), cells(8)]

    def field(axes):
        x, y = (torch.tensor(axis, dtype=torch.float32) for axis in axes)
        return (torch.sin(np.pi * x)[:, None] * torch.sin(np.pi * y))[None, ..., None]

    moved = Resampling(fine, coarse, periodic=False)(field(fine))
    assert (moved - field(coarse)).abs().max() < 2e-3
    a = torch.where(torch.rand(1, 16, 8, 1) > 0.5, 12.0, 3.0)
    finer = Resampling(coarse, fine, periodic=False, jumps=True)(a)
    assert sorted(set(finer.round(decimals=3).flatten().tolist())) == [3.0, 12.0]
    again = Resampling(fine, coarse, periodic=False, jumps=True)(finer)
    torch.testing.assert_close(again, a, rtol=0, atol=1e-5)


@pytest.fixture(scope="module")
def best(tmp_path_factory):
    """Persistence over tokens that carry their own cells, trained on 16 cells."""
    return load_best(make_run(tmp_path_factory.mktemp("run"), exact=True))


@pytest.mark.parametrize("count", [12, 32, 100])
def test_an_evaluation_on_another_grid_is_that_of_the_model_and_of_the_truth_of_that_grid(best, tmp_path, count):
    data = write_advection(tmp_path / "1D_Advection_Sols_beta0.4.hdf5", trajectories(cells=count))
    spec = open_for(best, data)
    numbers = evaluate(best, spec, chosen_samples(best, spec, "all", None), "all").numbers
    assert (numbers["grid"], numbers["model_grid"]) == ([count], [16])
    assert numbers["one_step"]["autoencoder"]["nRMSE"] < 1e-5
    for part in ("one_step", "rollout"):  # the untrained operator is persistence
        model, persistence = (numbers[part][name]["nRMSE"] for name in ("model", "persistence"))
        assert model == pytest.approx(persistence, rel=1e-4)


def test_predictions_for_another_grid_have_that_grid(best, tmp_path):
    data = write_advection(tmp_path / "1D_Advection_Sols_beta0.4.hdf5", trajectories(cells=40))
    spec = open_for(best, data)
    predict(best, spec, np.arange(3), Wish(), tmp_path / "out.h5")
    with h5py.File(tmp_path / "out.h5") as made, h5py.File(data) as truth:
        assert made["tensor"].shape == (3, FRAMES, 40)
        assert made["x-coordinate"][...] == pytest.approx(truth["x-coordinate"][...])
        assert made["tensor"][:, 1] == pytest.approx(truth["tensor"][:3, 0], abs=1e-4)


def test_a_steady_problem_on_another_grid_is_evaluated_beside_its_mean_field(tmp_path):
    best = load_best(make_run(tmp_path / "run", "darcy2d", exact=True, patch=2))
    write_darcy(tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5")
    with h5py.File(tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5", "a") as file:
        for name in ("nu", "tensor"):
            finer = np.repeat(np.repeat(file[name][...], 3, axis=-1), 3, axis=-2)
            del file[name]
            file[name] = finer
        del file["x-coordinate"], file["y-coordinate"]
        file["x-coordinate"] = file["y-coordinate"] = cells(24)
    spec = open_for(best, tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5")
    numbers = evaluate(best, spec, np.arange(4), "all").numbers
    assert (numbers["grid"], numbers["model_grid"]) == ([24, 24], [8, 8])
    assert np.isfinite(numbers["one_step"]["model"]["nRMSE"])
    assert 0 < numbers["one_step"]["mean_field"]["nRMSE"] < 1.5


def with_step(path, tensor, step):
    write_advection(path, tensor)
    with h5py.File(path, "a") as file:
        del file["t-coordinate"]
        file["t-coordinate"] = np.arange(tensor.shape[1] + 1) * step
    return path


def test_a_file_with_more_frames_in_between_is_read_in_steps_of_the_model(best, tmp_path):
    tensor = np.repeat(trajectories(), 4, axis=1)
    spec = open_for(best, with_step(tmp_path / "1D_Advection_Sols_beta0.4.hdf5", tensor, 0.25 / 4))
    assert (spec.time_stride, spec.frames) == (4, FRAMES)
    assert spec.times == pytest.approx(best.spec.times)


@pytest.mark.parametrize("step", [0.5, 0.1, 0.25 * 1.5])
def test_a_file_whose_frames_make_no_step_of_the_model_is_refused(best, tmp_path, step):
    path = with_step(tmp_path / "1D_Advection_Sols_beta0.4.hdf5", trajectories(), step)
    with pytest.raises(DataError) as caught:
        open_for(best, path)
    assert caught.value.message == f"{path} has a frame every {step:g}, the model was trained on steps of 0.25"
