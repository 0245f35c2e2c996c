"""Training losses. Each returns one number a sample, (B,), so that ranks can add sums and counts.

Shapes: B batch, the rest any: points and channels of a field, or tokens and channels of latents.
"""

from __future__ import annotations

import torch
from torch import Tensor

SMALLEST_NORM = 1e-6  # of a target, in normalised units: an all-zero sample must not blow up a batch


def mse(predicted: Tensor, true: Tensor) -> Tensor:
    """Returns the mean squared error of each sample, (B,)."""
    return (predicted - true).square().flatten(1).mean(1)


def relative_mse(predicted: Tensor, true: Tensor) -> Tensor:
    """Returns |predicted - true|^2 / |true|^2 of each sample, (B,): small fields count as much as large ones."""
    return mse(predicted, true) / true.square().flatten(1).mean(1).clamp_min(SMALLEST_NORM)


def relative_l2(predicted: Tensor, true: Tensor) -> Tensor:
    """Returns |predicted - true| / |true| of each sample, (B,), the norm over everything but the batch.

    Source: Li et al. 2021, arXiv:2010.08895, section 5.
    """
    error = (predicted - true).flatten(1).norm(dim=1)
    relative: Tensor = error / true.flatten(1).norm(dim=1).clamp_min(SMALLEST_NORM)
    return relative


def at_least_float32(value: Tensor) -> Tensor:
    """Returns half-precision numbers as float32, and others as they are: a check in float64 stays one."""
    return value.to(torch.promote_types(value.dtype, torch.float32))
