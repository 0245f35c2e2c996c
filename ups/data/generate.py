"""Makes data files: a recipe becomes a PDEBench file, once, streamed, on several processes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ups.data import hdf5
from ups.data.pde.equations import equation
from ups.data.pdebench_file import new_file
from ups.data.pieces import in_order
from ups.data.recipe_record import Recipe
from ups.errors import ConfigError

RECIPE_ATTRIBUTE = "ups_recipe"

# float64 values one piece of work holds; pieces depend on the recipe alone, never on the processes.
PIECE_VALUES = 1 << 20
PIECE_SAMPLES = 16

Progress = Callable[[int], None]


def generate(
    recipe: Recipe, path: Path, *, jobs: int = 1, overwrite: bool = False, progress: Progress | None = None
) -> bool:
    """Makes `path` and returns True, or returns False where a file of the same recipe is there.

    `progress` is told how many samples are done. The bytes do not depend on `jobs`. Raises
    ConfigError where `path` holds something else, UpsError for a full or unwritable disk.
    """
    if path.exists() and _keep(recipe, path, overwrite):
        return False
    found = equation(recipe.task)
    begin, end = found.DOMAIN
    coordinates = dict.fromkeys(found.AXES, begin + (end - begin) * recipe.cell_centres)
    if found.KIND == "trajectory":
        coordinates["t"] = recipe.times
    attributes = {RECIPE_ATTRIBUTE: recipe.to_json()}
    size = samples_of_a_piece(recipe)
    pieces = [(recipe, first, min(first + size, recipe.samples)) for first in range(0, recipe.samples, size)]
    with new_file(
        path,
        found,
        samples=recipe.samples,
        coordinates=coordinates,
        parameter=recipe.parameter,
        attributes=attributes,
    ) as file:
        for piece, fields in zip(pieces, in_order(solve_piece, pieces, jobs), strict=True):
            file.write(piece[1], fields)
            if progress is not None:
                progress(piece[2])
    return True


def samples_of_a_piece(recipe: Recipe) -> int:
    """Returns how many samples one piece of work makes."""
    found = equation(recipe.task)
    values = recipe.frames * recipe.resolution ** len(found.AXES) * found.CHANNELS
    return int(np.clip(PIECE_VALUES // values, 1, PIECE_SAMPLES))


def solve_piece(recipe: Recipe, first: int, last: int) -> dict[str, np.ndarray]:
    """Returns the fields of samples [first, last); a function of the module, so that processes find it."""
    return equation(recipe.task).solve_samples(recipe, first, last)


def stored_recipe(path: Path) -> dict[str, Any] | None:
    """Returns the recipe a generated file carries, None for any other HDF5 file. Raises DataError."""
    with hdf5.reading(path) as file:
        text = file.attrs.get(RECIPE_ATTRIBUTE)
    return json.loads(text) if text is not None else None


def _keep(recipe: Recipe, path: Path, overwrite: bool) -> bool:
    stored = stored_recipe(path)
    if stored is None:
        raise ConfigError(
            f"{path} is there already and was not made by ups data generate; it is never overwritten",
            hint="choose another folder with --root (data.root), or move the file away",
        )
    differences = recipe.differences(stored)
    if differences and not overwrite:
        raise ConfigError(
            f"{path} is there already, made with {', '.join(differences)}",
            hint="replace it with --overwrite, or choose another folder with --root (data.root)",
        )
    return not differences
