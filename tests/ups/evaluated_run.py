"""A run folder with an untrained but complete best.pt and its data, made in a second."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import torch

from ups import checkpoint
from ups.config import from_plain
from ups.data.fields import FieldReader, open_data
from ups.data.normalisation import from_training_split
from ups.data.pde.equations import equation
from ups.data.splits import split_samples
from ups.models import build_operator

CELLS, FRAMES, SAMPLES = 16, 5, 10


def trajectories(samples=SAMPLES, cells=CELLS):
    """Returns waves of three lengths that travel, (samples, frames, cells)."""
    x, t, n = np.arange(cells) / cells, np.linspace(0, 1, FRAMES), np.arange(samples)
    phase = x[None, None] - 0.4 * t[None, :, None]
    return np.sin(2 * np.pi * (1 + n % 3)[:, None, None] * phase + n[:, None, None]).astype(np.float32)


def write_advection(path: Path, tensor, *, beta=0.4):
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file["tensor"] = tensor
        file["x-coordinate"] = (np.arange(tensor.shape[2]) + 0.5) / tensor.shape[2]
        file["t-coordinate"] = np.linspace(0, 1.25, FRAMES + 1)
        file.attrs["beta"] = beta
    return path


def write_darcy(path: Path):
    rng = np.random.default_rng(0)
    a = rng.choice([0.1, 1.0], size=(SAMPLES, 8, 8)).astype(np.float32)
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        file["nu"], file["tensor"] = a, (1 / a + rng.normal(size=a.shape))[:, None].astype(np.float32)
        file["x-coordinate"] = file["y-coordinate"] = (np.arange(8) + 0.5) / 8
        file.attrs["beta"] = 1.0
    return path


def make_run(folder: Path, task="advection1d", **latent) -> Path:
    """Writes data and a best.pt whose operator is persistence in latent space; returns best.pt."""
    parameter = 0.4 if task == "advection1d" else 1.0
    plain = {
        "data": {"task": task, "parameter": parameter, "root": str(folder / "data")},
        "latent": {"dim": 4, "hidden_dim": 8, "depth": 1, "num_heads": 2, **latent},
        "operator": {"hidden_dim": 8, "depths": [1], "group_size": 8, "num_heads": 2},
        "output": {"dir": str(folder)},
    }
    data = folder / "data" / equation(task).file_name(parameter)
    if task == "advection1d":
        write_advection(data, trajectories())
    else:
        write_darcy(data)
    config = from_plain(plain, "a test")
    spec = open_data(config.data)
    units = from_training_split(FieldReader(spec), split_samples(spec.samples, config.data).train)
    torch.manual_seed(0)
    autoencoder = checkpoint.build_autoencoder(config, spec)
    operator = build_operator(config.operator, latent_dim=4, token_grid=autoencoder.token_grid, periodic=spec.periodic)
    path = folder / "checkpoints" / "best.pt"
    path.parent.mkdir(parents=True)
    content = checkpoint.header("best", config, spec, units)
    checkpoint.save(
        path,
        content
        | {
            "autoencoder": autoencoder.state_dict(),
            "operator": operator.state_dict(),
            "validation": 0.5,
            "epoch": 3,
            "step": 40,
        },
    )
    return path
