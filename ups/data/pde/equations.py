"""Which file of this package is which equation: the task's name is the module's name."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Literal, Protocol, cast, get_args

from ups.data.settings import Task
from ups.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np

    from ups.data.recipe_record import Recipe

Kind = Literal["trajectory", "steady"]
TASKS: tuple[str, ...] = get_args(Task)


class Equation(Protocol):
    """What a module such as `ups.data.pde.advection1d` offers."""

    TASK: str
    KIND: Kind
    AXES: tuple[str, ...]  # the names of its space axes, as in `x-coordinate`
    PERIODIC: bool
    PARAMETER: str  # the attribute of PDEBench's files that holds the number in their name
    POSITIVE_PARAMETER: bool  # a viscosity or a forcing below zero has no solution
    CONSERVES: bool  # the mean over the domain stays what it is
    CHANNELS: int  # species: numbers at each place
    DOMAIN: tuple[float, float]  # where each space axis begins and ends

    def file_name(self, parameter: float) -> str:
        """Returns PDEBench's name of the file for one value of the parameter."""

    def solve_samples(self, recipe: Recipe, first: int, last: int) -> dict[str, np.ndarray]:
        """Returns what the file's datasets hold for samples [first, last)."""


def equation(task: str) -> Equation:
    """Returns the module of one task. Raises ConfigError where there is none of that name."""
    if task not in TASKS:
        raise ConfigError(f"unknown task '{task}'", hint=f"the tasks are {', '.join(TASKS)}")
    return cast("Equation", importlib.import_module(f"ups.data.pde.{task}"))
