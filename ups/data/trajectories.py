"""How trajectories lie in a file: one dataset `tensor`, or, as PDEBench has its two species, a group a sample.

tensor (samples, frames, *grid), with an axis for the species at the end where there are several;
NNNN/data (frames, *grid, species) for each sample, coordinates and times beside it in NNNN/grid.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ups.data import hdf5
from ups.data.pde.equations import Equation
from ups.errors import DataError


def grouped(file: Any, found: Equation) -> bool:
    """Whether the file has a group a sample."""
    return found.CHANNELS > 1 and "tensor" not in file and bool(sample_groups(file))


def sample_groups(file: Any) -> list[str]:
    """Returns the names of the groups that are samples, in the order of their numbers."""
    return sorted((name for name in file if name.isdigit() and "data" in file[name]), key=int)


def fields_of(file: Any, path: Path, found: Equation) -> tuple[int, tuple[int, ...]]:
    """Returns the number of samples and the shape of one: frames, grid and, where there are several, species.

    Raises DataError for another layout, and for samples that are not alike.
    """
    if not grouped(file, found):
        axes = tuple(f"{axis}-coordinate" for axis in found.AXES)
        hdf5.require_datasets(file, path, found.TASK, ("tensor", *axes, "t-coordinate"))
        samples, *shape = file["tensor"].shape or (0,)
        return samples, tuple(shape)
    names = sample_groups(file)
    first = tuple(file[names[0]]["data"].shape)
    for name in names:
        if tuple(file[name]["data"].shape) != first:
            raise DataError(f"{path}: '{name}/data' has shape {file[name]['data'].shape}, '{names[0]}/data' {first}")
    missing = [f"grid/{axis}" for axis in (*found.AXES, "t") if f"grid/{axis}" not in file[names[0]]]
    if missing:
        raise DataError(f"{path}: group '{names[0]}' has 'data' and no {', '.join(missing)}")
    return len(names), first


def dtype_of(file: Any, found: Equation) -> np.dtype[Any]:
    """Returns the type of the fields."""
    held = file[sample_groups(file)[0]]["data"] if grouped(file, found) else file["tensor"]
    dtype: np.dtype[Any] = held.dtype
    return dtype


def coordinate(file: Any, path: Path, found: Equation, axis: str) -> np.ndarray:
    """Returns the coordinates along an axis, or the times for "t", float64."""
    held = file[f"{sample_groups(file)[0]}/grid/{axis}"] if grouped(file, found) else file[f"{axis}-coordinate"]
    return np.asarray(held[...], dtype=np.float64)


def rows(file: Any, names: list[str], sample: int, frames: slice) -> np.ndarray:
    """Returns frames of one sample; `names` are the groups of samples, none where there is one dataset."""
    array: np.ndarray = file[names[sample]]["data"][frames] if names else file["tensor"][sample, frames]
    return array
