"""From a configuration to the recipe of its file: the same recipe gives the same bytes, on any number of processes."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace

from ups.config import DataConfig, GenerateConfig
from ups.data.pde.equations import equation
from ups.data.recipe_record import VERSION, Recipe
from ups.errors import ConfigError

__all__ = ["VERSION", "Recipe", "build_recipe", "command_for", "recipe_for"]


def recipe_for(config: DataConfig) -> Recipe:
    """Returns the recipe of the file that a configuration's data section reads. Raises ConfigError."""
    return build_recipe(config.task, config.parameter, config.generate)


def command_for(config: DataConfig) -> str:
    """Returns the command that makes the file which a configuration's data section reads, without the configuration."""
    recipe, plain = recipe_for(config), GenerateConfig()
    words = ["ups", "data", "generate", config.task, "--parameter", f"{recipe.parameter:g}", "--root", str(config.root)]
    for name in ("samples", "resolution", "frames", "end_time", "seed", "mode"):
        value = getattr(config.generate, name)
        if value != getattr(plain, name):
            words += [f"--{name.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value)]
    return shlex.join(words)


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
    if not math.isfinite(parameter) or not math.isfinite(config.end_time):
        raise ConfigError(
            f"{found.PARAMETER} and the end time must be finite numbers, got {parameter:g} and {config.end_time:g}"
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
