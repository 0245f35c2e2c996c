"""Settings that change how training computes, each through the real command line on tiny data; and `ups cache`."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from small_run import ups, ups_from_cold, write_config, write_data

ONE_EPOCH = {"epochs": 1, "batch_size": 8, "lr": 0.003}
QUICK = {"autoencoder": ONE_EPOCH, "operator": ONE_EPOCH}


def train(folder: Path, *arguments: str, **changes: Any) -> Path:
    """Trains on one rank for one epoch a stage; returns the run's folder."""
    config = write_config(folder, **{"stages": QUICK, **changes})
    done = ups("train", config, "--no-preflight", "--nproc", "1", *arguments)
    assert done.returncode == 0, done.stderr
    return folder / "run"


def epochs(run: Path) -> list[Mapping[str, float]]:
    """Returns the epochs' records of metrics.jsonl."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == "epoch"]


def best(run: Path) -> dict[str, torch.Tensor]:
    """Returns the weights of the best operator."""
    weights: dict[str, torch.Tensor] = torch.load(run / "checkpoints/best.pt", weights_only=True)["operator"]
    return weights


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in float32 without anything else; its folder holds data and configuration too."""
    folder = tmp_path_factory.mktemp("plain")
    write_data(folder)
    train(folder)
    return folder


@pytest.fixture
def beside(plain: Path, tmp_path: Path) -> Path:
    """A folder with the same data."""
    for file in plain.glob("*.hdf5"):
        shutil.copy(file, tmp_path)
    return tmp_path


def test_accumulated_micro_batches_are_the_same_steps(plain: Path, beside: Path) -> None:
    cut = {name: {**stage, "accumulate": 4} for name, stage in QUICK.items()}
    run = train(beside, stages=cut)
    for record, reference in zip(epochs(run), epochs(plain / "run"), strict=True):
        assert record["step"] == reference["step"]
        assert record["train_loss"] == pytest.approx(reference["train_loss"], rel=1e-4)
    torch.testing.assert_close(best(run), best(plain / "run"), rtol=1e-3, atol=1e-4)


def test_bfloat16_trains_float32_weights_to_nearly_the_same_loss(plain: Path, beside: Path) -> None:
    run = train(beside, training={"precision": "bfloat16"})
    for record, reference in zip(epochs(run), epochs(plain / "run"), strict=True):
        assert record["train_loss"] != reference["train_loss"]
        assert record["train_loss"] == pytest.approx(reference["train_loss"], rel=0.05)
    assert {weight.dtype for weight in best(run).values() if weight.is_floating_point()} == {torch.float32}


def test_darcy_maps_the_coefficient_to_the_solution(tmp_path: Path) -> None:
    random, cells = np.random.default_rng(5), 16
    with h5py.File(tmp_path / "2D_DarcyFlow_beta1.0_Train.hdf5", "w") as file:
        file["nu"] = np.where(random.random((12, cells, cells)) < 0.5, 0.1, 1.0).astype(np.float32)
        file["tensor"] = random.standard_normal((12, 1, cells, cells)).astype(np.float32)
        file["x-coordinate"] = file["y-coordinate"] = (np.arange(cells) + 0.5) / cells
        file.attrs["beta"] = 1.0
    run = train(tmp_path, data={"task": "darcy2d", "parameter": 1.0})
    assert [(record["stage"], np.isfinite(record["validation_nrmse"])) for record in epochs(run)] == [
        ("autoencoder", True),
        ("operator", True),
    ]
    assert sorted(path.name for path in (run / "cache").iterdir()) == [
        "manifest.json", "train_a.npy", "train_u.npy", "validation_a.npy", "validation_u.npy",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="torch.compile needs a C++ compiler: apt install g++")
def test_a_compiled_model_trains_like_a_plain_one(plain: Path, beside: Path) -> None:
    config = write_config(beside, stages=QUICK, training={"compile": True})
    done = ups_from_cold("train", config, "--no-preflight", "--nproc", "1", "--stage", "autoencoder")
    assert done.returncode == 0, done.stderr
    run = beside / "run"
    (record,), (reference, _) = epochs(run), epochs(plain / "run")
    for name in ("train_loss", "validation_nrmse"):
        assert record[name] == pytest.approx(reference[name], rel=1e-3)


def test_the_cache_is_built_reused_rebuilt_and_described(plain: Path) -> None:
    config, cache = plain / "small.yaml", plain / "run/cache"
    before = (cache / "train_u.npy").read_bytes()
    assert ups("cache", "build", config).stdout == f"latent cache reused in {cache}\n"
    assert ups("cache", "build", config, "--rebuild").stdout == f"latent cache built in {cache}\n"
    assert (cache / "train_u.npy").read_bytes() == before
    told = ups("cache", "info", config)
    manifest = json.loads((cache / "manifest.json").read_text())
    sizes = ", ".join(f"{name} {size / 1e6:.2f} MB" for name, size in manifest["files"].items())
    data = next(plain.glob("*.hdf5"))
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.splitlines() == [
        f"cache         {cache}",
        "task          advection1d",
        f"data          {data.name}, {data.stat().st_size} bytes",
        "strides       time 1, space 1",
        f"samples       train {len(manifest['splits']['train'])}, validation {len(manifest['splits']['validation'])}",
        "dtype         float32",
        "layout        npy",
        f"encoder       {manifest['encoder']}",
        f"normalisation {manifest['normalisation']}",
        f"files         {sizes}",
    ]
    assert re.fullmatch("[0-9a-f]{64}", manifest["encoder"])


def test_a_cache_of_another_dtype_is_refused_with_what_differs(plain: Path) -> None:
    refused = ups("cache", "build", plain / "small.yaml", "--set", "cache.dtype=float16")
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        f"error: the latent cache {plain}/run/cache belongs to another configuration: "
        'dtype is "float32", "float16" is needed',
        f"  ups cache build {plain}/small.yaml --set cache.dtype=float16 --rebuild",
    ]


def test_a_cache_that_is_not_there_is_told(plain: Path, tmp_path: Path) -> None:
    told = ups("cache", "info", plain / "small.yaml", "--set", f"cache.dir={tmp_path}/none")
    assert told.stderr.splitlines() == [
        f"error: {tmp_path}/none holds no latent cache: manifest.json is not there",
        "  ups cache build CONFIG --rebuild",
    ]
