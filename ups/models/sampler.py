"""Noise levels, and the few steps from pure noise to a residual.

Shapes: B batch, S tokens, D latent channels.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor

CURVATURE = 7.0  # rho of Karras et al. 2022, arXiv:2206.00364, equation 5: most steps at little noise

Denoise = Callable[[Tensor, Tensor], Tensor]  # (x_BSD, sigma_B) -> r_BSD


def sigma_of(tau: Tensor, least: float, most: float) -> Tensor:
    """Returns the noise at tau of [0, 1]: `least` at 0, `most` at 1, float as tau."""
    low, high = least ** (1 / CURVATURE), most ** (1 / CURVATURE)
    sigma: Tensor = (low + tau * (high - low)) ** CURVATURE
    return sigma


def noise_levels(steps: int, least: float, most: float) -> list[float]:
    """Returns steps + 1 levels, falling from `most` to `least`."""
    levels: list[float] = sigma_of(torch.linspace(1, 0, steps + 1, dtype=torch.float64), least, most).tolist()
    return levels


def heun_step(denoise: Denoise, x_BSD: Tensor, before_B: Tensor, after_B: Tensor) -> Tensor:
    """Returns x moved along dx/dsigma = (x - D(x, sigma)) / sigma by one step of Heun's method, second order."""
    before, after = before_B[:, None, None], after_B[:, None, None]
    slope = (x_BSD - denoise(x_BSD, before_B)) / before
    guess = x_BSD + (after - before) * slope
    return x_BSD + (after - before) * 0.5 * (slope + (guess - denoise(guess, after_B)) / after)


def sample(denoise: Denoise, noise_BSD: Tensor, levels: list[float]) -> Tensor:
    """Returns the residual that `noise_BSD`, standard normal, leads to: Heun between the levels, then one denoising."""
    x_BSD = noise_BSD * levels[0]
    for before, after in itertools.pairwise(levels):
        x_BSD = heun_step(denoise, x_BSD, _all(x_BSD, before), _all(x_BSD, after))
    return denoise(x_BSD, _all(x_BSD, levels[-1]))


def _all(x_BSD: Tensor, sigma: float) -> Tensor:
    return x_BSD.new_full((len(x_BSD),), sigma)
