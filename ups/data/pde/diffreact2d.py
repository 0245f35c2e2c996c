"""PDEBench's 2-D diffusion-reaction: an activator u and an inhibitor v on (-1, 1)^2 behind walls that nothing passes.

    u_t = Du (u_xx + u_yy) + u - u^3 - k - v        v_t = Dv (v_xx + v_yy) + u - v

with Dv = 5 Du and k = 0.005 (FitzHugh-Nagumo; PDEBench: Du = 0.001; arXiv:2210.07182, appendix D.8). Strang splitting:
half a step of diffusion, exact in cosines, which are what walls admit; the reaction by Runge and Kutta's fourth order;
half a step of diffusion. PDEBench integrates finite volumes with an adaptive scheme. Initial data: normal noise a cell.

PDEBench's file has a group a sample, `0000/data` of (T, X, Y, 2) with `grid/x`, `grid/y` and `grid/t`; made here is one
dataset `tensor` of (B, T, X, Y, 2). Both are read. Shapes: B samples, T frames, X and Y cells, C = 2 species.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ups.data.pde.equations import Kind
    from ups.data.recipe_record import Recipe

TASK = "diffreact2d"
KIND: Kind = "trajectory"
AXES = ("x", "y")
PERIODIC = False
PARAMETER = "Du"
POSITIVE_PARAMETER = True
CONSERVES = False
CHANNELS = 2
DOMAIN = (-1.0, 1.0)

FASTER = 5.0  # Dv over Du
K = 0.005
PDEBENCH_DU = 0.001
LONGEST_STEP = 0.02


def file_name(parameter: float) -> str:
    """Returns PDEBench's name for its own Du, and one with the number for others."""
    return "2D_diff-react_NA_NA.h5" if parameter == PDEBENCH_DU else f"2D_diff-react_Du{float(parameter)}.h5"


def solve(initial_BXYC: np.ndarray, times: np.ndarray, du: float, longest: float = LONGEST_STEP) -> np.ndarray:
    """Returns the fields at `times`, of which the first is that of `initial_BXYC`: (B, T, X, Y, C), float64."""
    frames = [np.array(initial_BXYC, dtype=np.float64)]
    for interval in np.diff(times):
        frames.append(_advance(frames[-1], float(interval), du, longest))
    return np.stack(frames, axis=1)


def solve_samples(recipe: Recipe, first: int, last: int) -> dict[str, np.ndarray]:
    """Returns the trajectories of samples [first, last): {"tensor": (B, T, X, Y, C)}, float32."""
    shape = (recipe.resolution, recipe.resolution, CHANNELS)
    initial = np.stack([recipe.generator(sample).normal(size=shape) for sample in range(first, last)])
    return {"tensor": solve(initial, recipe.times[:-1], recipe.parameter).astype(np.float32)}


def _advance(u_BXYC: np.ndarray, interval: float, du: float, longest: float) -> np.ndarray:
    steps = max(1, int(np.ceil(interval / longest - 1e-9)))
    step, side = interval / steps, DOMAIN[1] - DOMAIN[0]
    x, y = (np.pi / side * np.arange(cells) for cells in u_BXYC.shape[1:3])
    squares = (x[:, None] ** 2 + y[None] ** 2)[..., None]
    half = np.exp(-du * np.array([1.0, FASTER]) * squares * step / 2)
    for _ in range(steps):
        u_BXYC = _damped(_reacted(_damped(u_BXYC, half), step), half)
    return u_BXYC


def _damped(u_BXYC: np.ndarray, factor: np.ndarray) -> np.ndarray:
    import scipy.fft  # here and not above: reading a configuration must not wait for it

    waves = scipy.fft.dctn(u_BXYC, axes=(1, 2))
    return np.asarray(scipy.fft.idctn(waves * factor, axes=(1, 2)))


def _reacted(u_BXYC: np.ndarray, step: float) -> np.ndarray:
    one = _reaction(u_BXYC)
    two = _reaction(u_BXYC + step / 2 * one)
    three = _reaction(u_BXYC + step / 2 * two)
    four = _reaction(u_BXYC + step * three)
    return np.asarray(u_BXYC + step / 6 * (one + 2 * two + 2 * three + four))


def _reaction(u_BXYC: np.ndarray) -> np.ndarray:
    u, v = u_BXYC[..., 0], u_BXYC[..., 1]
    return np.stack([u - u**3 - K - v, u - v], axis=-1)
