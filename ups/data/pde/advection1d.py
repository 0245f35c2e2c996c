"""Linear advection u_t + beta u_x = 0 on the periodic unit interval: u(x, t) = u0((x - beta t) mod 1).

PDEBench integrates this with a second-order upwind scheme; the exact shift has no error to learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ups.data.pde.initial_conditions import InitialConditions, draw

if TYPE_CHECKING:
    from ups.data.pde.equations import Kind
    from ups.data.recipe_record import Recipe

TASK = "advection1d"
KIND: Kind = "trajectory"
AXES = ("x",)
PERIODIC = True
PARAMETER = "beta"
POSITIVE_PARAMETER = False
CONSERVES = True
CHANNELS = 1
DOMAIN = (0.0, 1.0)


def file_name(parameter: float) -> str:
    """Returns PDEBench's name of the file for one advection speed."""
    return f"1D_Advection_Sols_beta{float(parameter)}.hdf5"


def solve(initial: InitialConditions, x: np.ndarray, times: np.ndarray, beta: float) -> np.ndarray:
    """Returns the exact solution at the points `x` and the times `times`: (B, T, X), float64."""
    points = (x[None, :] - beta * times[:, None]) % 1.0
    return initial.evaluate(points.ravel()).reshape(-1, *points.shape)


def solve_samples(recipe: Recipe, first: int, last: int) -> dict[str, np.ndarray]:
    """Returns the trajectories of samples [first, last): {"tensor": (B, T, X)}, float32."""
    initial = draw([recipe.generator(sample) for sample in range(first, last)])
    u_BTX = solve(initial, recipe.cell_centres, recipe.times[:-1], recipe.parameter)
    return {"tensor": u_BTX.astype(np.float32)}
