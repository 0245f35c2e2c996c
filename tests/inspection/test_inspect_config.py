from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from ups.data.pde.equations import equation

FRAMES, CELLS, BETA = 6, 32, 0.4
CONFIG = """\
name: small
data:
  task: advection1d
  parameter: 0.4
  root: {root}
  validation_fraction: 0.2
  generate: {{samples: 30, resolution: 32, frames: 6}}
latent: {{dim: 8, hidden_dim: 16, depth: 1}}
operator: {{hidden_dim: 16, group_size: 8, num_heads: 2, depths: [1, 1], window: 4}}
stages:
  autoencoder: {{batch_size: 16, epochs: 3}}
  operator: {{batch_size: 16, epochs: 3}}
training: {{nproc: 2, port: null}}
output: {{dir: {root}/run}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(CONFIG.format(root=tmp_path))
    return path


def write_waves(root: Path) -> Path:
    x, t = (np.arange(CELLS) + 0.5) / CELLS, np.arange(FRAMES) * 0.05
    phases = np.linspace(0, 6, 30)
    path = root / equation("advection1d").file_name(BETA)
    with h5py.File(path, "w") as file:
        waves = np.sin(2 * np.pi * (x[None, None] - BETA * t[None, :, None]) + phases[:, None, None])
        file["tensor"] = waves.astype(np.float32)
        file["x-coordinate"], file["t-coordinate"] = x, np.arange(FRAMES + 1) * 0.05
        file.attrs["beta"] = BETA
    return path


def inspect(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", "from diagnostics.cli import main; main()", "inspect", *words]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=200)


def test_the_trainers_modules_are_inspected_with_batches_of_its_data(config: Path, tmp_path: Path) -> None:
    data = write_waves(tmp_path)
    done = inspect(str(config), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [one["code"] for one in answer["outcomes"] if one["findings"]] == []
    models = answer["outcomes"][0]["measured"]["models"]
    assert {name: (model["class"], model["steps"]) for name, model in models.items()} == {
        "autoencoder": ("Reconstruction", 3),
        "operator": ("LatentStep", 3),
    }
    assert done.stderr.startswith(f"inspected {config}: 2 models, ")
    assert sorted(os.listdir(tmp_path)) == sorted([data.name, config.name])  # noqa: PTH208 - names alone


def test_a_configuration_without_data_is_inspected_with_synthetic_batches(config: Path, tmp_path: Path) -> None:
    done = inspect(str(config), "--set", "training.nproc=1", cwd=tmp_path)
    note, summary = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (0, "")
    assert note == f"synthetic batches: there is no data file {tmp_path / equation('advection1d').file_name(BETA)}"
    assert summary.startswith(f"inspected {config}: 2 models, ")


def test_a_mistyped_key_is_refused_by_the_trainer(config: Path, tmp_path: Path) -> None:
    done = inspect(str(config), "--set", "latent.dimm=4", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "latent.dimm" in done.stderr
