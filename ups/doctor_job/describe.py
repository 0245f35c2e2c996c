"""`describe`: what a configuration is going to need, by arithmetic; no torch, and the data's header only if it must."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ups.config import DataConfig, UpsConfig
from ups.data.pde.equations import equation
from ups.data.several.problems import problems
from ups.doctor_job.request import Request
from ups.errors import UpsError

FLOAT_BYTES = 4
CHECKPOINT_COPIES = 10  # model, EMA and two AdamW moments in `last`, the models of `best`; once more while replaced
HEADER_BYTES = 16 << 10  # of an HDF5 file, with its coordinates


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much data there is, after strides."""

    samples: int
    frames: int
    grid: tuple[int, ...]
    fields: int

    @property
    def cells(self) -> int:
        """Of one frame."""
        return math.prod(self.grid)


def answer(request: Request) -> None:
    """Prints the fields of the doctor's JobDescription as one JSON object."""
    print(json.dumps(describe(request)))  # noqa: T201


def describe(request: Request) -> dict[str, Any]:
    """Returns the description; paths are absolute, sizes in bytes."""
    config = request.config
    training, nproc = config.training, config.training.nproc or ranks_by_default()
    parts = {data_path(one.data): one for one in problems(config).values()}
    extents = [(one, extent_of(one.data, path)) for path, one in parts.items()]
    return {
        "module": "ups.doctor_job",
        "config": str(request.path),
        "overrides": list(request.overrides),
        "name": config.name,
        "nproc": nproc,
        "backend": training.backend,
        "port": training.port,
        "threads_per_rank": training.threads_per_rank,
        "workers": training.workers,
        "prefetch": training.prefetch,
        "batch_bytes": max(batch_bytes(*one, nproc) for one in extents),
        "disk_bytes": sum(cache_bytes(*one) + checkpoint_bytes(*one) for one in extents),
        "output_dir": str(config.output.dir.absolute()),
        "cache_dirs": [str(one.cache_dir.absolute()) for one in parts.values() if config.cache.enabled],
        "data_files": [str(path.absolute()) for path in parts],
        "precision": training.precision,
        "models": list(config.stages.run),
        "env": {"OMP_NUM_THREADS": str(training.threads_per_rank)},
    }


def data_path(data: DataConfig) -> Path:
    """Returns the path of the data file, as `ups.data.fields.data_file` does without numpy."""
    return data.root / (data.file or equation(data.task).file_name(data.parameter))


def extent_of(data: DataConfig, path: Path) -> Extent:
    """Returns the extent by arithmetic where the file has the size of what `generate` makes, else by its header."""
    made = generated_extent(data)
    full = generated_extent(data, strides=False)
    expected = full.samples * full.frames * full.fields * full.cells * FLOAT_BYTES
    if not path.exists() or abs(path.stat().st_size - expected) <= 0.02 * expected + HEADER_BYTES:
        return made
    from ups.data.fields import open_data  # 0.2 s of imports

    try:
        spec = open_data(data)
    except UpsError:  # the data probe says what is wrong with the file; sizes stay estimates
        return made
    return Extent(samples=spec.samples, frames=spec.frames, grid=spec.grid, fields=len(spec.fields))


def generated_extent(data: DataConfig, *, strides: bool = True) -> Extent:
    """Returns what the configuration's `generate` section makes."""
    known, make = equation(data.task), data.generate
    steady = known.KIND == "steady"
    every, each = (data.time_stride, data.space_stride) if strides else (1, 1)
    return Extent(
        samples=min(make.samples, data.max_samples or make.samples) if strides else make.samples,
        frames=1 if steady else -(-make.frames // every),
        grid=(-(-make.resolution // each),) * len(known.AXES),
        fields=2 if steady else 1,
    )


def latent_floats(config: UpsConfig, extent: Extent) -> int:
    """Returns the numbers in the latent of one frame."""
    return math.prod(-(-cells // config.latent.patch) for cells in extent.grid) * config.latent.dim


def batch_bytes(config: UpsConfig, extent: Extent, nproc: int) -> int:
    """Returns the bytes of the largest batch that one rank's loader hands over."""
    pair = 2 * (latent_floats(config, extent) if config.cache.enabled else extent.cells)
    numbers = {"autoencoder": extent.cells, "steady": 2 * extent.cells}
    sizes = (
        -(-getattr(config.stages, name).batch_size // nproc) * numbers.get(name, pair) for name in config.stages.run
    )
    largest: int = max(sizes)
    return largest * FLOAT_BYTES


def cache_bytes(config: UpsConfig, extent: Extent) -> int:
    """Returns the size of the latent cache: training and validation samples, every frame of every field."""
    if not config.cache.enabled:
        return 0
    samples = extent.samples * (1 - config.data.test_fraction)
    width = 2 if config.cache.dtype == "float16" else 4
    return int(samples * extent.frames * extent.fields * latent_floats(config, extent) * width)


def checkpoint_bytes(config: UpsConfig, extent: Extent) -> int:
    """Returns about what the checkpoints take; a layer of width h has some 12 h^2 parameters."""
    operator, latent = config.operator, config.latent
    layers: int = 2 * sum(operator.depths) * 12 * operator.hidden_dim**2
    if operator.architecture == "pdet_stack":  # a complex matrix for each of its waves
        layers += sum(operator.depths) * (2 * operator.modes) ** len(extent.grid) * operator.hidden_dim**2
    coder: int = 2 * latent.depth * 12 * latent.hidden_dim**2 + latent.patch ** len(extent.grid) * latent.hidden_dim
    return (layers + coder) * FLOAT_BYTES * CHECKPOINT_COPIES


def ranks_by_default() -> int:
    """Returns the number of GPUs that CUDA would see, else 2; asked of the kernel driver, not of torch."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([device for device in visible.split(",") if device.strip() not in ("", "-1")]) or 2
    gpus = Path("/proc/driver/nvidia/gpus")
    return len(list(gpus.iterdir())) if gpus.is_dir() and any(gpus.iterdir()) else 2
