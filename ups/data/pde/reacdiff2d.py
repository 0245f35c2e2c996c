"""Diffusion-reaction u_t = nu (u_xx + u_yy) + rho u (1 - u), rho = 1, on the periodic unit square.

PDEBench's 1-D diffusion-reaction equation in two dimensions; PDEBench's own 2-D one has two species, another reaction
and walls: diffreact2d. Strang splitting: half a step of diffusion, exact in Fourier space; the reaction,
exact (logistic growth); half a step of diffusion. Of second order in time, for any step stable, and 0 < u < 1 stays so
but for what the grid does not resolve. Initial data: a logistic function of random waves, up to three periods an axis.

Shapes: B samples, T frames, X and Y cells along the axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ups.data.pde.equations import Kind
    from ups.data.recipe_record import Recipe

TASK = "reacdiff2d"
KIND: Kind = "trajectory"
AXES = ("x", "y")
PERIODIC = True
PARAMETER = "Nu"
POSITIVE_PARAMETER = True
CONSERVES = False
CHANNELS = 1
DOMAIN = (0.0, 1.0)

RHO = 1.0
MODES = 3  # periods of the initial waves along each axis, at most
STEEPNESS = 2.0  # of the logistic function, over one standard deviation of the waves
LONGEST_STEP = 0.01


def file_name(parameter: float) -> str:
    """Returns the name of the file for one diffusivity, after PDEBench's in one dimension."""
    return f"2D_ReacDiff_Nu{float(parameter)}_Rho{RHO}.hdf5"


def solve(
    initial_BXY: np.ndarray, times: np.ndarray, nu: float, rho: float = RHO, longest: float = LONGEST_STEP
) -> np.ndarray:
    """Returns the fields at `times`, of which the first is that of `initial_BXY`: (B, T, X, Y), float64."""
    frames = [np.array(initial_BXY, dtype=np.float64)]
    for interval in np.diff(times):
        frames.append(_advance(frames[-1], float(interval), nu, rho, longest))
    return np.stack(frames, axis=1)


def solve_samples(recipe: Recipe, first: int, last: int) -> dict[str, np.ndarray]:
    """Returns the trajectories of samples [first, last): {"tensor": (B, T, X, Y)}, float32."""
    initial = np.stack([_initial(recipe.generator(sample), recipe.cell_centres) for sample in range(first, last)])
    return {"tensor": solve(initial, recipe.times[:-1], recipe.parameter).astype(np.float32)}


def _advance(u: np.ndarray, interval: float, nu: float, rho: float, longest: float) -> np.ndarray:
    steps = max(1, int(np.ceil(interval / longest - 1e-9)))
    step = interval / steps
    cells_x, cells_y = u.shape[1:]
    waves = np.fft.fftfreq(cells_x, 1 / cells_x)[:, None] ** 2 + np.fft.rfftfreq(cells_y, 1 / cells_y)[None] ** 2
    half = np.exp(-nu * (2 * np.pi) ** 2 * waves * step / 2)
    growth = np.exp(rho * step)
    for _ in range(steps):
        u = _multiplied(u, half)
        u = u * growth / (1 + u * (growth - 1))
        u = _multiplied(u, half)
    return u


def _multiplied(u: np.ndarray, symbol: np.ndarray) -> np.ndarray:
    return np.asarray(np.fft.irfft2(np.fft.rfft2(u) * symbol, s=u.shape[1:]))


def _initial(generator: np.random.Generator, centres: np.ndarray) -> np.ndarray:
    periods = np.arange(-MODES, MODES + 1)
    size = np.hypot(periods[:, None], periods[None])
    amplitude = generator.normal(size=size.shape) / np.maximum(size, 1.0) * (size > 0)
    phase = generator.uniform(0, 2 * np.pi, size=size.shape)
    along = 2 * np.pi * periods[:, None] * centres  # (periods, cells)
    spins = amplitude * np.exp(1j * phase)
    waves = np.einsum("kl,kx,ly->xy", spins, np.exp(1j * along), np.exp(1j * along)).real
    return np.asarray(1 / (1 + np.exp(-STEEPNESS * waves / waves.std())))
