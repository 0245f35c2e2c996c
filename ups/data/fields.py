"""PDEBench's files, read lazily: FieldSpec is what the header says, FieldReader reads the numbers.

Two layouts. A trajectory is `tensor` (samples, frames, x) with `t-coordinate` one longer than the
frames. A steady problem is `nu` (samples, x, y), the coefficient a, with `tensor` (samples, 1, x, y),
the solution u: the axis of length 1 is no time, and the map to learn is a -> u.

Shapes: T frames, X grid axes (after strides), C channels. Everything is float32, channels last.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ups.config import DataConfig
from ups.data import hdf5, trajectories
from ups.data.field_spec import FieldSpec
from ups.data.pde.equations import Equation, equation
from ups.data.reader import FieldReader
from ups.errors import ConfigError, DataError, ForeignFileError

__all__ = ["FieldReader", "FieldSpec", "data_file", "open_data", "open_spec"]


def data_file(config: DataConfig) -> Path:
    """Returns the path of the data: `file` below `root`, by default under PDEBench's own name.

    Raises ConfigError for a section of several problems, each of which has a file of its own.
    """
    if config.tasks:
        raise ConfigError("this works on one problem, and data.tasks names several", hint="name one by data.task")
    return config.root / (config.file or equation(config.task).file_name(config.parameter))


def open_data(config: DataConfig) -> FieldSpec:
    """Returns the spec of the configuration's data file. Raises DataError as `open_spec` does."""
    return open_spec(
        data_file(config),
        task=config.task,
        time_stride=config.time_stride,
        space_stride=config.space_stride,
        max_samples=config.max_samples,
        parameter=config.parameter,
    )


def open_spec(
    path: Path,
    *,
    task: str,
    time_stride: int = 1,
    space_stride: int = 1,
    max_samples: int | None = None,
    parameter: float | None = None,
) -> FieldSpec:
    """Returns what the header of `path` says; no field value is read.

    `parameter` is what the caller expects: it serves where neither the attributes nor the file's
    name tell, and is refused where they tell otherwise. Raises DataError for a file that is missing,
    truncated or of another layout, ConfigError for strides that leave nothing to read.
    """
    found = equation(task)
    if min(time_stride, space_stride) < 1 or (max_samples is not None and max_samples < 1):
        raise ConfigError(
            f"strides and max_samples must be 1 or more, got {time_stride}, {space_stride}, {max_samples}"
        )
    with hdf5.reading(path) as file:
        samples, frames, grid = _shape(file, path, found)
        coordinates = tuple(_axis(file, path, found, axis, n) for axis, n in zip(found.AXES, grid, strict=True))
        times = _times(file, path, found, frames) if found.KIND == "trajectory" else np.zeros(1)
        parameters = _parameters(file, path, found, parameter)
    coordinates = tuple(axis[::space_stride] for axis in coordinates)
    times = times[::time_stride]
    return FieldSpec(
        path=Path(path),
        task=task,
        kind=found.KIND,
        samples=min(samples, max_samples or samples),
        frames=len(times),
        grid=tuple(len(axis) for axis in coordinates),
        channels=found.CHANNELS,
        coordinates=coordinates,
        times=times,
        periodic=found.PERIODIC,
        parameters=parameters,
        time_stride=time_stride,
        space_stride=space_stride,
    )


def _shape(file: Any, path: Path, found: Equation) -> tuple[int, int, tuple[int, ...]]:
    axes = tuple(f"{axis}-coordinate" for axis in found.AXES)
    if found.KIND == "trajectory":
        samples, shape = trajectories.fields_of(file, path, found)
        species = ("species",) if found.CHANNELS > 1 else ()
        wanted = ("samples", "frames", *found.AXES, *species)
        _check_shape(path, found, "'tensor'", (samples, *shape), wanted, trajectories.dtype_of(file, found))
        if species and shape[-1] != found.CHANNELS:
            raise DataError(f"{path} has {shape[-1]} species, {found.TASK} has {found.CHANNELS}")
        return samples, shape[0], tuple(shape[1 : 1 + len(found.AXES)])
    hdf5.require_datasets(file, path, found.TASK, ("nu", "tensor", *axes))
    samples, *grid = _ranked(file, path, found, "nu", ("samples", *found.AXES))
    solution = _ranked(file, path, found, "tensor", ("samples", "1", *found.AXES))
    if solution != (samples, 1, *grid):
        raise DataError(f"{path}: 'tensor' has shape {solution}, 'nu' {(samples, *grid)}; they do not belong together")
    return samples, 1, tuple(grid)


def _ranked(file: Any, path: Path, found: Equation, name: str, axes: tuple[str, ...]) -> tuple[int, ...]:
    return _check_shape(path, found, f"'{name}'", tuple(file[name].shape), axes, file[name].dtype)


def _check_shape(
    path: Path, found: Equation, name: str, shape: tuple[int, ...], axes: tuple[str, ...], dtype: np.dtype[Any]
) -> tuple[int, ...]:
    if len(shape) != len(axes) or 0 in shape:
        wanted = f"({', '.join(axes)})"
        raise DataError(
            f"{path}: {name} has shape {shape}, {found.TASK} needs {wanted}",
            hint=f"is the task right? look inside: ups data info {path}",
        )
    if dtype.kind != "f":
        raise DataError(f"{path}: {name} holds {dtype}, floating-point numbers are needed")
    return shape


def _axis(file: Any, path: Path, found: Equation, axis: str, cells: int) -> np.ndarray:
    values = trajectories.coordinate(file, path, found, axis)
    if values.shape != (cells,):
        raise DataError(
            f"{path}: '{axis}-coordinate' has shape {values.shape}, the fields have {cells} cells along that axis"
        )
    return values


def _times(file: Any, path: Path, found: Equation, frames: int) -> np.ndarray:
    times = trajectories.coordinate(file, path, found, "t")
    # PDEBench stores the end of the last interval too: one time more than there are frames.
    if times.ndim != 1 or len(times) not in (frames, frames + 1):
        raise DataError(f"{path}: 't-coordinate' has shape {times.shape} for {frames} frames, {frames + 1} are usual")
    return times[:frames]


def _parameters(file: Any, path: Path, found: Equation, expected: float | None) -> dict[str, float]:
    told = _told_parameter(file, path, found.PARAMETER)
    if told is None and expected is None:
        raise ForeignFileError(
            f"{path}: neither an attribute '{found.PARAMETER}' nor the file's name tells the parameter of {found.TASK}",
            hint="set data.parameter in the configuration",
        )
    if told is not None and expected is not None and not np.isclose(told, expected, rtol=1e-6, atol=0):
        raise ForeignFileError(
            f"{path} holds {found.TASK} with {found.PARAMETER} = {told:g}, the configuration asks for {expected:g}",
            hint=f"set data.parameter={told:g}, or name another file in data.file",
        )
    value = told if told is not None else expected
    assert value is not None  # noqa: S101  # one of the two is there: both absent was refused above
    return {found.PARAMETER: value}


def _told_parameter(file: Any, path: Path, name: str) -> float | None:
    for attribute, value in file.attrs.items():
        if attribute.lower() == name.lower() and np.size(value) == 1:
            return float(np.asarray(value).reshape(()))
    in_name = re.search(rf"{name}(\d+(?:\.\d+)?(?:e-?\d+)?)", path.name, flags=re.IGNORECASE)
    return float(in_name.group(1)) if in_name else None
