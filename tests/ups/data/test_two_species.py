"""PDEBench's 2-D diffusion-reaction: the generator against what is known, and files in PDEBench's own layout."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from small_run import ups, write_config

from ups.config import GenerateConfig
from ups.data.fields import FieldReader, open_spec
from ups.data.generate import generate
from ups.data.pde import diffreact2d
from ups.data.recipe import build_recipe
from ups.errors import DataError

QUIET = ("--no-preflight", "--no-doctor", "--quiet", "--nproc", "1")


def test_the_same_everywhere_is_the_reaction_alone() -> None:
    start = np.array([0.3, -0.2])
    found = diffreact2d.solve(np.broadcast_to(start, (1, 4, 6, 2)), np.array([0.0, 1.0, 3.0]), du=0.01)
    right = lambda _t, y: [y[0] - y[0] ** 3 - diffreact2d.K - y[1], y[0] - y[1]]  # noqa: E731 - the equation
    truth = solve_ivp(right, (0, 3), start, t_eval=[0, 1, 3], rtol=1e-10, atol=1e-12).y.T
    assert np.abs(found[0] - truth[:, None, None]).max() < 1e-7


def test_small_waves_that_walls_admit_grow_as_the_linear_equation_says() -> None:
    cells, side, number, du = 32, 2.0, 3, 0.02
    x = (np.arange(cells) + 0.5) / cells
    wave = np.cos(np.pi * number * x)[:, None, None] * np.ones((1, cells, 1))
    rate = (np.pi * number / side) ** 2
    matrix = np.array([[1 - du * rate, -1], [1, -1 - 5 * du * rate]])
    values, vectors = np.linalg.eig(matrix)
    pure = vectors @ np.diag(np.exp(values * 0.5)) @ np.linalg.inv(vectors) @ np.array([1.0, 0.5])
    fixed = np.full((1, cells, cells, 2), np.cbrt(-diffreact2d.K))  # u = v and u^3 = -k: it stays
    start = fixed + 1e-5 * wave[None] * np.array([1.0, 0.5])
    found = diffreact2d.solve(start, np.array([0.0, 0.5]), du)[0, 1] - fixed[0]
    slope = 3 * np.cbrt(diffreact2d.K) ** 2  # of u^3 at that state
    values, vectors = np.linalg.eig(matrix - np.array([[slope, 0], [0, 0]]))
    expected = (vectors @ np.diag(np.exp(values * 0.5)) @ np.linalg.inv(vectors) @ np.array([1.0, 0.5])).real
    assert np.abs(found / 1e-5 - wave * expected).max() < 1e-3
    assert np.abs(expected - pure.real).max() > 1e-2  # the test would see the wrong state


def test_halving_the_step_quarters_the_error() -> None:
    smooth = np.random.default_rng(0).normal(size=(1, 6, 6, 2)).repeat(2, axis=1).repeat(2, axis=2)
    ends = [diffreact2d.solve(smooth, np.array([0.0, 0.8]), 0.01, longest=0.8 / n)[0, 1] for n in (16, 32, 1024)]
    errors = [np.abs(one - ends[-1]).max() for one in ends[:-1]]
    assert 3.5 < errors[0] / errors[1] < 4.5


def write_pdebench(path: Path, samples: int = 10, frames: int = 6, cells: int = 16, first: int = 0) -> np.ndarray:
    """Writes the layout of PDEBench's 2D_diff-react_NA_NA.h5; returns the fields."""
    recipe = build_recipe(
        "diffreact2d", 0.001, GenerateConfig(samples=samples, resolution=cells, frames=frames, end_time=0.5)
    )
    fields = diffreact2d.solve_samples(recipe, 0, samples)["tensor"]
    centres = (np.arange(cells) + 0.5) / cells * 2 - 1
    with h5py.File(path, "w") as file:
        for number, sample in enumerate(fields, start=first):
            group = file.create_group(f"{number:04d}")
            group.create_dataset("data", data=sample, dtype="f")
            for axis in "xy":
                group.create_dataset(f"grid/{axis}", data=centres, dtype="f")
            group.create_dataset("grid/t", data=recipe.times[:-1], dtype="f")
            group.attrs["config"] = "sim: {}"
    return fields


@pytest.mark.parametrize("first", [0, 7])
def test_pdebenchs_groups_are_read_as_samples_with_strides_in_time_and_space(tmp_path: Path, first: int) -> None:
    path = tmp_path / "2D_diff-react_NA_NA.h5"
    fields = write_pdebench(path, samples=4, first=first)
    spec = open_spec(path, task="diffreact2d", time_stride=2, space_stride=4, parameter=0.001)
    assert (spec.samples, spec.frames, spec.grid, spec.channels) == (4, 3, (4, 4), 2)
    assert (spec.parameter, spec.times.tolist()) == (0.001, pytest.approx([0, 0.2, 0.4]))
    assert spec.coordinates[0] == pytest.approx(((np.arange(16) + 0.5) / 8 - 1)[::4])
    reader = FieldReader(spec)
    assert np.array_equal(reader.frames(3, 1, 3), fields[3, 2:5:2, ::4, ::4])
    reader.close()


def test_what_is_generated_is_read_alike(tmp_path: Path) -> None:
    recipe = build_recipe("diffreact2d", 0.002, GenerateConfig(samples=2, resolution=8, frames=3, end_time=0.2))
    path = tmp_path / diffreact2d.file_name(0.002)
    generate(recipe, path)
    spec = open_spec(path, task="diffreact2d")
    assert (spec.samples, spec.frames, spec.grid, spec.channels, spec.parameter) == (2, 3, (8, 8), 2, 0.002)
    assert np.array_equal(FieldReader(spec).frames(1, 0, 3), diffreact2d.solve_samples(recipe, 1, 2)["tensor"][0])


def test_layouts_that_do_not_fit_are_named(tmp_path: Path) -> None:
    path = tmp_path / "2D_diff-react_NA_NA.h5"
    write_pdebench(path, samples=2)
    with pytest.raises(DataError) as caught:
        open_spec(path, task="reacdiff2d", parameter=1.0)
    assert "has no dataset 'tensor', 'x-coordinate', 'y-coordinate', 't-coordinate', which reacdiff2d" in str(
        caught.value
    )
    with h5py.File(path, "a") as file:
        del file["0001/data"]
        file["0001/data"] = np.zeros((6, 16, 8, 2), dtype=np.float32)
    with pytest.raises(DataError) as caught:
        open_spec(path, task="diffreact2d", parameter=0.001)
    assert caught.value.message == f"{path}: '0001/data' has shape (6, 16, 8, 2), '0000/data' (6, 16, 16, 2)"
    with h5py.File(path, "w") as file:
        file["0000/data"] = np.zeros((6, 8, 8, 3), dtype=np.float32)
        file["0000/grid/x"] = file["0000/grid/y"] = np.arange(8.0)
        file["0000/grid/t"] = np.arange(6.0)
    with pytest.raises(DataError) as caught:
        open_spec(path, task="diffreact2d", parameter=0.001)
    assert caught.value.message == f"{path} has 3 species, diffreact2d has 2"


def test_a_run_on_pdebenchs_file_trains_evaluates_and_predicts_both_species(tmp_path: Path) -> None:
    path = tmp_path / "2D_diff-react_NA_NA.h5"
    write_pdebench(path)
    config = write_config(
        tmp_path,
        data={"task": "diffreact2d", "parameter": 0.001, "root": str(tmp_path)},
        latent={"exact": True, "patch": 2, "dim": 8},
    )
    done = ups("train", config, *QUIET)
    assert done.returncode == 0, done.stderr
    best = tmp_path / "run/checkpoints/best.pt"
    numbers = json.loads(ups("evaluate", best, "--json", "--out", tmp_path / "out").stdout)
    assert numbers["one_step"]["autoencoder"]["nRMSE"] < 1e-4
    assert 0 < numbers["one_step"]["model"]["nRMSE"] < 2 * numbers["one_step"]["persistence"]["nRMSE"]
    done = ups("predict", best, path, "--out", tmp_path / "made.h5", "--samples", "2")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "made.h5") as made, h5py.File(path) as truth:
        assert made["tensor"].shape == (2, 6, 16, 16, 2)
        assert np.array_equal(made["tensor"][1, 0], truth["0001/data"][0])
