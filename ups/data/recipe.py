"""What makes a generated file: the same recipe gives the same bytes, on any number of processes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from ups.config import DataConfig, GenerateConfig
from ups.data.equations import equation
from ups.errors import ConfigError

# Raised when a change makes other numbers from the same recipe.
VERSION = 1

# float64 values one piece of work holds; pieces depend on the recipe alone, never on the processes.
PIECE_VALUES = 1 << 20
PIECE_SAMPLES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that the numbers of a generated file depend on."""

    task: str
    parameter: float
    samples: int
    resolution: int  # cells along each axis
    frames: int  # saved frames; 1 for steady problems
    end_time: float  # PDE time of the last frame; 0 for steady problems
    seed: int
    mode: Literal["clean", "pdebench"]
    version: int = VERSION

    @property
    def times(self) -> np.ndarray:
        """The saved times and, as PDEBench stores it, the end of one interval more: (frames + 1,)."""
        return np.arange(self.frames + 1) * (self.end_time / max(1, self.frames - 1))

    @property
    def cell_centres(self) -> np.ndarray:
        """The cell centres of the unit interval, (resolution,)."""
        return (np.arange(self.resolution) + 0.5) / self.resolution

    @property
    def piece(self) -> int:
        """How many samples one piece of work makes."""
        values = self.frames * self.resolution ** len(equation(self.task).AXES)
        return int(np.clip(PIECE_VALUES // values, 1, PIECE_SAMPLES))

    def generator(self, sample: int) -> np.random.Generator:
        """Returns the random stream of one sample: it does not depend on how many others are made."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(sample,)))

    def to_json(self) -> str:
        """Returns the recipe as it is stored in the file's attribute."""
        return json.dumps(asdict(self), sort_keys=True)

    def differences(self, other: dict[str, Any]) -> list[str]:
        """Returns 'name: there, here' for every entry in which a stored recipe is another one."""
        mine = asdict(self)
        return [f"{name} {other.get(name)} instead of {mine[name]}" for name in mine if other.get(name) != mine[name]]


def recipe_for(config: DataConfig) -> Recipe:
    """Returns the recipe of the file that a configuration's data section reads. Raises ConfigError."""
    return build_recipe(config.task, config.parameter, config.generate)


def build_recipe(task: str, parameter: float, config: GenerateConfig) -> Recipe:
    """Returns the recipe, checked: every ConfigError names the value that cannot be."""
    found = equation(task)
    recipe = Recipe(
        task=task,
        parameter=float(parameter),
        samples=config.samples,
        resolution=config.resolution,
        frames=config.frames,
        end_time=float(config.end_time),
        seed=config.seed,
        mode=config.mode,
    )
    if found.POSITIVE_PARAMETER and not parameter > 0:
        raise ConfigError(f"{task} needs {found.PARAMETER} above 0, got {parameter:g}")
    for name, least in (("samples", 1), ("resolution", 4), ("seed", 0)):
        if getattr(config, name) < least:
            raise ConfigError(f"{name} must be {least} or more, got {getattr(config, name)}")
    if found.KIND == "steady":
        return replace(recipe, frames=1, end_time=0.0)
    if config.mode != "clean":
        raise ConfigError(f"mode '{config.mode}' exists for darcy2d, {task} has one mode: clean")
    if config.frames < 2 or not config.end_time > 0:
        raise ConfigError(f"{task} needs 2 frames and an end time above 0, got {config.frames} and {config.end_time:g}")
    return recipe
