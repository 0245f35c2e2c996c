"""Are the data of a steady problem those of a square that looks alike from all sides? Asked before they are turned.

Another program's grid may hold one edge and not the opposite one: a turned sample would then be none of theirs.
Shapes: X and Y cells along the axes, C channels.
"""

from __future__ import annotations

import numpy as np
import torch

from ups.data.reader import FieldReader

SYMMETRIES = 8
SURE = 3.0  # standard errors of the mean field


def turned(u_BXYC: torch.Tensor, number: int) -> torch.Tensor:
    """Returns a field under one of the eight symmetries of the square; a grid that is longer one way keeps its axes."""
    for axis in (1, 2):
        if number & axis:
            u_BXYC = u_BXYC.flip(axis)
    return u_BXYC.transpose(1, 2) if number & 4 and u_BXYC.shape[1] == u_BXYC.shape[2] else u_BXYC


def looks_alike(reader: FieldReader, samples: np.ndarray) -> bool:
    """Whether the mean solution is its own mirror image, and its own diagonal one, as far as so many samples tell.

    The difference of a mean field of N samples from its image is about the standard deviation times sqrt(2 / N).
    """
    total, squares = np.zeros(1), np.zeros(1)
    for sample in samples:
        u = reader.field(int(sample), "u").astype(np.float64)
        total, squares = total + u, squares + u * u
    reader.close()
    mean = torch.from_numpy(np.asarray(total / len(samples)))[None]
    variance = torch.from_numpy(np.asarray(squares / len(samples)))[None] - mean.square()
    expected = (2 * variance / len(samples)).mean().sqrt()
    return all(
        bool((mean - turned(mean, number)).square().mean().sqrt() <= SURE * expected) for number in range(1, SYMMETRIES)
    )
