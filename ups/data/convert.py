"""Takes data from outside: dictionaries of tensors in .pt files become one PDEBench file.

`x` is the input and `y` the output. darcy2d: `x` permeability (N, X, Y), `y` pressure (N, X, Y); a
boolean permeability becomes 1 (true) and 0 (false) unless two values are named, since the file does
not say which they were. burgers1d: `y` (N, T, X) is the trajectory, its first frame `x`; `visc` is
the viscosity of u_t + u u_x = visc u_xx, so PDEBench's Nu, whose equation has nu/pi, is pi visc.
(Integrating NeuralOperator's burgers_train_16.pt from its first frames with visc = 0.01 to t = 1 gives its
frames within 1.3 %, what 16 points resolve; visc / pi in place of visc is 20 % off, t = 0.5 or 2 more.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ups.data.pde.equations import Equation, equation
from ups.data.pdebench_file import new_file
from ups.data.torch_reason import begins_as_saved, torch_reason
from ups.errors import ConfigError, DataError, ForeignFileError


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertOptions:
    """What the .pt files do not say."""

    parameter: float | None = None  # PDEBench's parameter; default: from `visc`, 1 for Darcy
    end_time: float = 1.0  # time of the last frame, time series only
    permeability: tuple[float, float] = (0.0, 1.0)  # what false and true stand for


def convert(
    sources: Sequence[Path], task: str, root: Path, options: ConvertOptions, *, overwrite: bool = False
) -> Path:
    """Writes the samples of `sources`, one after the other, as one PDEBench file and returns its path.

    The first samples become the test split: name the file that holds the test data first. Raises
    DataError for files of another content, ConfigError where the output is there already.
    """
    found = equation(task)
    if not sources:
        raise ConfigError("no source file was named", hint="ups data convert TEST.pt TRAIN.pt --task darcy2d")
    tables = [_loaded(path) for path in sources]
    parts = [_fields(found, table, path, options) for table, path in zip(tables, sources, strict=True)]
    parameter = _parameter(found, tables, options)
    path = root / found.file_name(parameter)
    if path.exists() and not overwrite:
        raise ConfigError(f"{path} is there already", hint="replace it with --overwrite, or name another --root")
    shapes = {name: values.shape[1:] for name, values in parts[0].items()}
    for part, source in zip(parts, sources, strict=True):
        if (other := {name: values.shape[1:] for name, values in part.items()}) != shapes:
            raise DataError(f"{source} holds samples of shape {other}, {sources[0]} of {shapes}")
    with new_file(
        path,
        found,
        samples=sum(len(part["tensor"]) for part in parts),
        coordinates=_coordinates(found, parts[0]["tensor"], options),
        parameter=parameter,
        attributes=_provenance(found, sources, tables, options),
    ) as file:
        first = 0
        for part in parts:
            file.write(first, part)
            first += len(part["tensor"])
    return path


def _loaded(path: Path) -> dict[str, Any]:
    import torch  # here and not above: only this command needs it

    if not path.is_file():
        what = "is no regular file" if path.exists() else "is not there"
        raise DataError(f"{path} {what}", hint=f"check the spelling: ls -l {path.parent}")
    try:
        table = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises a dozen types for a damaged or hostile file
        refused = DataError if begins_as_saved(path) else ForeignFileError
        raise refused(
            f"{path} cannot be read as tensors saved by torch: {torch_reason(error, path)}",
            hint=f"ups-doctor scan-cache {path}",
        ) from error
    if not isinstance(table, dict) or not all(torch.is_tensor(table.get(name)) for name in ("x", "y")):
        there = sorted(map(str, table)) if isinstance(table, dict) else type(table).__name__
        raise ForeignFileError(f"{path} must hold a dictionary with tensors 'x' and 'y', it holds {there}")
    try:
        return {name: value.detach().numpy() for name, value in table.items() if torch.is_tensor(value)}
    except (RuntimeError, TypeError, NotImplementedError) as error:  # sparse, without storage, or a type of torch's own
        raise DataError(
            f"{path} holds a tensor that cannot become an array: {torch_reason(error)}",
            hint="save plain tensors of numbers: tensor.detach().cpu().float()",
        ) from error


def _fields(found: Equation, table: dict[str, Any], path: Path, options: ConvertOptions) -> dict[str, np.ndarray]:
    x, y = table["x"], table["y"]
    if y.ndim != 3 or not len(y):
        raise DataError(f"{path}: 'y' has shape {y.shape}, {found.TASK} needs three axes")
    if found.KIND == "steady":
        if x.shape != y.shape or x.shape[1] != x.shape[2]:
            raise DataError(f"{path}: 'x' has shape {x.shape}, 'y' {y.shape}; {found.TASK} needs one square grid")
        false, true = options.permeability
        a = np.where(x, true, false) if x.dtype == np.bool_ else x
        return {"nu": a.astype(np.float32), "tensor": y[:, None].astype(np.float32)}
    if x.shape != (len(y), y.shape[2]) or not np.allclose(x, y[:, 0], rtol=1e-5, atol=1e-6):
        raise DataError(f"{path}: 'x' {x.shape} is not the first frame of 'y' {y.shape}, as {found.TASK} needs")
    return {"tensor": y.astype(np.float32)}


def _parameter(found: Equation, tables: Sequence[dict[str, Any]], options: ConvertOptions) -> float:
    if options.parameter is not None:
        return options.parameter
    if found.KIND == "steady":
        return 1.0
    viscosities = {float(value) for table in tables for value in np.ravel(table.get("visc", []))}
    if found.PARAMETER != "Nu" or len(viscosities) != 1:
        raise DataError(
            f"the files tell {len(viscosities)} viscosities, one is needed for {found.TASK}",
            hint=f"name PDEBench's {found.PARAMETER}: --parameter 0.01",
        )
    return float(np.round(np.pi * viscosities.pop(), 6))


def _coordinates(found: Equation, tensor: np.ndarray, options: ConvertOptions) -> dict[str, np.ndarray]:
    cells = tensor.shape[-1]
    centres = (np.arange(cells) + 0.5) / cells
    coordinates = dict.fromkeys(found.AXES, centres)
    if found.KIND == "trajectory":
        frames = tensor.shape[1]
        coordinates["t"] = np.arange(frames + 1) * (options.end_time / max(1, frames - 1))
    return coordinates


def _provenance(
    found: Equation, sources: Sequence[Path], tables: Sequence[dict[str, Any]], options: ConvertOptions
) -> dict[str, Any]:
    facts: dict[str, Any] = {"converted_from": ", ".join(path.name for path in sources)}
    if any(table["x"].dtype == np.bool_ for table in tables):
        facts["permeability_of_false_and_true"] = list(options.permeability)
    if found.PARAMETER == "Nu" and "visc" in tables[0]:
        facts["viscosity"] = float(np.ravel(tables[0]["visc"])[0])
        facts["equation"] = "u_t + (u^2/2)_x = viscosity u_xx, viscosity = Nu / pi"
    return facts
