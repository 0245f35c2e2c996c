"""Darcy flow -div(a grad u) = beta on the unit square, u = 0 in the ghost cells around it.

Finite volumes on cell centres, the harmonic mean of a at the faces. `a` is 1 where the sum of five
Gaussians exp(-r^2 / s), centres ~ U(0, 1)^2, s ~ U(0, 0.5), lies above the mean of that sum over a
batch of 200 samples (the size of PDEBench's batches), else 0.1.

Mode `clean` solves the steady equation. Mode `pdebench` stores what PDEBench stores, the state at
t = 1.75 of u_t - div(a grad u) = beta from random initial data, here integrated exactly in time; for
small beta what is left of those data cannot be known from `a`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ups.data.pde.decay import decayed, random_initial_field
from ups.errors import DataError

if TYPE_CHECKING:
    from ups.data.pde.equations import Kind
    from ups.data.recipe_record import Recipe

TASK = "darcy2d"
KIND: Kind = "steady"
AXES = ("x", "y")
PERIODIC = False
PARAMETER = "beta"
POSITIVE_PARAMETER = True
CONSERVES = False
CHANNELS = 1
DOMAIN = (0.0, 1.0)

BATCH = 200  # samples whose common mean is the threshold
GAUSSIANS = 5
LOW, HIGH = 0.1, 1.0
STORED_TIME = 1.75  # PDEBench saves every 0.25 up to 2 and keeps the last but one
LARGEST_RESIDUAL = 1e-8


def file_name(parameter: float) -> str:
    """Returns PDEBench's name of the file for one forcing."""
    return f"2D_DarcyFlow_beta{float(parameter)}_Train.hdf5"


def solve(a_XY: np.ndarray, beta: float) -> np.ndarray:
    """Returns the steady pressure u (X, Y), float64. Raises DataError where the solution does not hold."""
    matrix = stiffness(a_XY)
    forcing = np.full(a_XY.size, float(beta))
    u = factorised(matrix).solve(forcing)
    residual = np.linalg.norm(matrix @ u - forcing) / np.linalg.norm(forcing)
    if not residual < LARGEST_RESIDUAL:
        raise DataError(f"the sparse solve left a residual of {residual:.1e}, {LARGEST_RESIDUAL:.0e} is the most")
    return np.asarray(u.reshape(a_XY.shape))


def solve_samples(recipe: Recipe, first: int, last: int) -> dict[str, np.ndarray]:
    """Returns samples [first, last): {"nu": (B, X, Y), "tensor": (B, 1, X, Y)}, float32."""
    a_BXY = np.stack([coefficient(recipe, sample) for sample in range(first, last)])
    u_BXY = np.stack([solve(a_XY, recipe.parameter) for a_XY in a_BXY])
    if recipe.mode == "pdebench":
        for row, (a_XY, u_XY) in enumerate(zip(a_BXY, u_BXY, strict=True)):
            initial = random_initial_field(_stream(recipe, first + row, 1), recipe.cell_centres)
            matrix = stiffness(a_XY)
            u_BXY[row] += decayed(matrix, (initial - u_XY).ravel(), STORED_TIME).reshape(a_XY.shape)
    return {"nu": a_BXY.astype(np.float32), "tensor": u_BXY[:, None].astype(np.float32)}


def coefficient(recipe: Recipe, sample: int) -> np.ndarray:
    """Returns a (X, Y) of one sample: 1 above the mean of its batch of 200, else 0.1."""
    start = sample - sample % BATCH
    means = [
        np.einsum("gx,gy->", *_bumps(recipe, other)) / recipe.resolution**2 for other in range(start, start + BATCH)
    ]
    total = np.einsum("gx,gy->xy", *_bumps(recipe, sample))
    return np.where(total > np.mean(means), HIGH, LOW)


def stiffness(a_XY: np.ndarray) -> Any:
    """Returns the symmetric positive matrix (scipy CSC) of -div(a grad .) on the cells, rows in C order."""
    from scipy import sparse  # here and not above: reading a configuration must not wait for it

    cells_x, cells_y = a_XY.shape
    padded = np.pad(a_XY, 1, mode="edge")
    across_x = _harmonic(padded[:-1, 1:-1], padded[1:, 1:-1]) * cells_x**2  # (X + 1, Y) faces
    across_y = _harmonic(padded[1:-1, :-1], padded[1:-1, 1:]) * cells_y**2  # (X, Y + 1)
    diagonal = across_x[:-1] + across_x[1:] + across_y[:, :-1] + across_y[:, 1:]
    beside = across_y[:, 1:].copy()
    beside[:, -1] = 0  # the last cell of a row has no neighbour in the next row
    below = across_x[1:-1].ravel()
    return sparse.diags_array(
        [diagonal.ravel(), -beside.ravel()[:-1], -beside.ravel()[:-1], -below, -below],
        offsets=[0, 1, -1, cells_y, -cells_y],
        format="csc",
    )


def factorised(matrix: Any) -> Any:
    """Returns the sparse factors of a symmetric positive matrix; `.solve(b)` applies its inverse."""
    from scipy.sparse.linalg import splu

    return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _harmonic(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(2 * a * b / (a + b))


def _bumps(recipe: Recipe, sample: int) -> tuple[np.ndarray, np.ndarray]:
    # exp(-r^2/s) is a product over the axes: 5 x (X + Y) numbers stand for 5 fields of X x Y.
    stream = _stream(recipe, sample, 0)
    centres, widths = stream.uniform(size=(2, GAUSSIANS, 1)), 0.5 * stream.uniform(size=(GAUSSIANS, 1))
    x, y = np.exp(-((recipe.cell_centres - centres) ** 2) / np.maximum(widths, 1e-6))
    return x, y


def _stream(recipe: Recipe, sample: int, purpose: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(recipe.seed, spawn_key=(sample, purpose)))
