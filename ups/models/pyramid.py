"""The token pyramid: neighbouring tokens merged on the way down, split on the way up.

Shapes: B batch, X token axes of the finer level, Y of the coarser one, H channels, E space axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn


def level_grids(token_grid: Sequence[int], levels: int) -> list[tuple[int, ...]]:
    """Returns the token grid of each level; an odd axis is rounded up, an axis of one token stays."""
    grids = [tuple(token_grid)]
    for _ in range(levels - 1):
        grids.append(tuple(math.ceil(size / 2) for size in grids[-1]))
    return grids


class MergeTokens(nn.Module):
    """Two tokens along each axis become one, by a linear layer; an odd axis repeats its last token."""

    def __init__(self, grid: Sequence[int], width: int) -> None:
        super().__init__()
        self.grid = tuple(grid)
        self.linear = nn.Linear(2 ** len(self.grid) * width, width)

    def forward(self, x_BXH: Tensor) -> Tensor:
        """Returns the coarser level, (B, Y, H)."""
        width = x_BXH.shape[-1]
        for axis, size in enumerate(self.grid, start=1):
            if size % 2:
                x_BXH = torch.cat([x_BXH, x_BXH.narrow(axis, size - 1, 1)], dim=axis)
        coarse = [math.ceil(size / 2) for size in self.grid]
        pairs = x_BXH.reshape(-1, *(side for size in coarse for side in (size, 2)), width)
        axes = range(len(coarse))
        order = [0, *(1 + 2 * axis for axis in axes), *(2 + 2 * axis for axis in axes), 1 + 2 * len(coarse)]
        out: Tensor = self.linear(pairs.permute(order).reshape(-1, *coarse, 2 ** len(coarse) * width))
        return out


class SplitTokens(nn.Module):
    """One token becomes two along each axis, by a linear layer; what an odd axis has too much is cut off."""

    def __init__(self, grid: Sequence[int], width: int) -> None:
        super().__init__()
        self.grid = tuple(grid)
        self.linear = nn.Linear(width, 2 ** len(self.grid) * width)

    def forward(self, x_BYH: Tensor) -> Tensor:
        """Returns the finer level, (B, X, H)."""
        batch, *coarse, width = x_BYH.shape
        axes = range(len(coarse))
        apart = self.linear(x_BYH).reshape(batch, *coarse, *(2 for _ in coarse), width)
        order = [0, *(place for axis in axes for place in (1 + axis, 1 + len(coarse) + axis)), 1 + 2 * len(coarse)]
        fine: Tensor = apart.permute(order).reshape(batch, *(2 * size for size in coarse), width)
        for axis, size in enumerate(self.grid, start=1):
            fine = fine.narrow(axis, 0, size)
        return fine
