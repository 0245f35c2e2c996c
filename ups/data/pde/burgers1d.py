"""Viscous Burgers u_t + (u^2/2)_x = (nu/pi) u_xx on the periodic unit interval.

PDEBench's equation; note the viscosity nu/pi. Finite volumes on at least 1024 cells: an upwind flux
with limited slopes (MUSCL, Engquist-Osher) and two-stage Runge-Kutta for the transport, and between
(Strang splitting) the diffusion of central differences, solved exactly in Fourier space: no limit on
the time step from nu, no overshoot, the mean kept. The file holds averages over its own cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ups.data.pde.initial_conditions import draw

if TYPE_CHECKING:
    from ups.data.pde.equations import Kind
    from ups.data.recipe_record import Recipe

TASK = "burgers1d"
KIND: Kind = "trajectory"
AXES = ("x",)
PERIODIC = True
PARAMETER = "Nu"
POSITIVE_PARAMETER = True
CONSERVES = True
CHANNELS = 1
DOMAIN = (0.0, 1.0)

LEAST_CELLS = 1024  # PDEBench's resolution
CFL = 0.4


def file_name(parameter: float) -> str:
    """Returns PDEBench's name of the file for one viscosity."""
    return f"1D_Burgers_Sols_Nu{float(parameter)}.hdf5"


def solve(initial_BX: np.ndarray, times: np.ndarray, nu: float) -> np.ndarray:
    """Returns the cell averages at `times`, of which the first is that of `initial_BX`: (B, T, X), float64."""
    frames = [np.array(initial_BX, dtype=np.float64)]
    for interval in np.diff(times):
        frames.append(_advance(frames[-1], float(interval), nu))
    return np.stack(frames, axis=1)


def solve_samples(recipe: Recipe, first: int, last: int) -> dict[str, np.ndarray]:
    """Returns the trajectories of samples [first, last): {"tensor": (B, T, X)}, float32."""
    finer = -(-LEAST_CELLS // recipe.resolution)
    cells = finer * recipe.resolution
    initial = draw([recipe.generator(sample) for sample in range(first, last)])
    fine = initial.evaluate((np.arange(cells) + 0.5) / cells)
    tensor = np.empty((last - first, recipe.frames, recipe.resolution), dtype=np.float32)
    times = recipe.times
    for frame in range(recipe.frames):
        if frame:
            fine = _advance(fine, float(times[frame] - times[frame - 1]), recipe.parameter)
        tensor[:, frame] = fine.reshape(len(fine), recipe.resolution, finer).mean(axis=2)
    return {"tensor": tensor}


def _advance(u_BX: np.ndarray, interval: float, nu: float) -> np.ndarray:
    # Samples share steps by powers of two of their own speed, so that none depends on its neighbours.
    cells = u_BX.shape[1]
    least = interval * np.abs(u_BX).max(axis=1) * cells / CFL
    levels = np.ceil(np.log2(np.maximum(least, 1.0))).astype(int)
    after = np.empty_like(u_BX)
    for level in np.unique(levels):
        rows = levels == level
        after[rows] = _steps(u_BX[rows], interval, 2 ** int(level), nu)
    return after


def _steps(u: np.ndarray, interval: float, steps: int, nu: float) -> np.ndarray:
    cells = u.shape[1]
    step = interval / steps
    decay = 4 * cells**2 * np.sin(np.pi * np.arange(cells // 2 + 1) / cells) ** 2 * nu / np.pi
    half, whole = np.exp(-decay * step / 2), np.exp(-decay * step)
    u = _multiplied(u, half)
    for index in range(steps):
        u = _multiplied(_transported(u, step * cells), whole if index < steps - 1 else half)
    return u


def _multiplied(u: np.ndarray, symbol: np.ndarray) -> np.ndarray:
    return np.asarray(np.fft.irfft(np.fft.rfft(u, axis=1) * symbol, n=u.shape[1], axis=1))


def _transported(u: np.ndarray, ratio: float) -> np.ndarray:
    # Strong-stability-preserving Runge-Kutta of second order (Shu and Osher 1988); ratio = dt / dx.
    first = u - ratio * _difference(_flux(u))
    return np.asarray(0.5 * (u + first - ratio * _difference(_flux(first))))


def _difference(flux: np.ndarray) -> np.ndarray:
    return np.asarray(flux - _from_left(flux))


def _flux(u: np.ndarray) -> np.ndarray:
    """Returns the flux through the right face of each cell: Engquist-Osher on limited linear slopes."""
    half_slope = 0.5 * _slope(u)
    left, right = u + half_slope, _from_right(u - half_slope)
    return np.asarray(0.5 * (np.maximum(left, 0) ** 2 + np.minimum(right, 0) ** 2))


def _slope(u: np.ndarray) -> np.ndarray:
    # Monotonised central limiter (van Leer 1977): second order where u is smooth, none at extrema.
    behind = u - _from_left(u)
    ahead = _from_right(behind)
    size = np.minimum(2 * np.minimum(np.abs(behind), np.abs(ahead)), 0.5 * np.abs(behind + ahead))
    return np.asarray(np.where(behind * ahead > 0, np.sign(behind) * size, 0.0))


def _from_left(u: np.ndarray) -> np.ndarray:
    return np.concatenate([u[:, -1:], u[:, :-1]], axis=1)


def _from_right(u: np.ndarray) -> np.ndarray:
    return np.concatenate([u[:, 1:], u[:, :1]], axis=1)
