"""Fields from the cells of one grid to those of another, along one axis after the other.

Periodic axes: the trigonometric interpolant, so that waves which both grids resolve arrive as they are, whether a grid
counts its cells' centres or begins at 0. Axes with edges: cubic interpolation between centres, or, for coefficients
that jump, the mean over what of the old cells lies in a new one. Shapes: B batch, X grid axes, C channels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

NEAREST = 4  # centres of a cubic


class Resampling:
    """The map from one grid to another; `coordinates` are those of the cells along each axis."""

    def __init__(
        self, source: Sequence[np.ndarray], target: Sequence[np.ndarray], *, periodic: bool, jumps: bool = False
    ) -> None:
        make = _by_waves if periodic else _by_overlap if jumps else _by_cubics
        self.matrices = [make(old, new).float() for old, new in zip(source, target, strict=True)]

    def __call__(self, u_BXC: Tensor) -> Tensor:
        """Returns the field on the new grid; any number of axes before the grid's."""
        axes = len(self.matrices)
        for number, matrix in enumerate(self.matrices):
            axis = u_BXC.ndim - 1 - axes + number
            u_BXC = torch.tensordot(u_BXC, matrix.to(u_BXC), dims=([axis], [1])).movedim(-1, axis)
        return u_BXC


def _by_waves(old: np.ndarray, new: np.ndarray) -> Tensor:
    count, least = len(old), (min(len(old), len(new)) - 1) // 2  # the longest wave that both grids tell from all others
    waves = np.arange(-least, least + 1)
    there = np.exp(2j * np.pi * np.outer(_turns(new), waves))
    back = np.exp(-2j * np.pi * np.outer(waves, _turns(old))) / count
    return torch.from_numpy((there @ back).real)


def _turns(cells: np.ndarray) -> np.ndarray:
    """Returns the places of the cells as shares of the period, the first within one cell of its beginning."""
    width = (cells[-1] - cells[0]) / max(1, len(cells) - 1)
    first = (cells[0] / width) % 1.0 if width else 0.5
    if first > 1 - 1e-3:  # -0.0000001 is 0
        first = 0.0
    return np.asarray((np.arange(len(cells)) + first) / len(cells))


def _by_cubics(old: np.ndarray, new: np.ndarray) -> Tensor:
    """Returns Lagrange's polynomials through the four nearest centres; at an edge all four lie on one side."""
    place_N = (np.arange(len(new)) + 0.5) / len(new) * len(old) - 0.5
    points = min(NEAREST, len(old))
    first_N = (np.floor(place_N).astype(int) - (points - 1) // 2).clip(0, len(old) - points)
    matrix = np.zeros((len(new), len(old)))
    for one in range(points):
        others = [other for other in range(points) if other != one]
        weight_N = np.prod([(place_N - first_N - other) / (one - other) for other in others], axis=0)
        matrix[np.arange(len(new)), first_N + one] = weight_N
    return torch.from_numpy(matrix)


def _by_overlap(old: np.ndarray, new: np.ndarray) -> Tensor:
    before, after = (np.linspace(0, 1, count + 1) for count in (len(old), len(new)))
    shared = np.minimum(after[1:, None], before[None, 1:]) - np.maximum(after[:-1, None], before[None, :-1])
    return torch.from_numpy(shared.clip(0) * len(new))
