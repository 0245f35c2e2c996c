"""Grids cut into patches: a field on cells becomes one row of numbers a token, and back.

Shapes: B batch, X grid axes, C channels, S tokens, P = patch**E * C numbers of one patch, E space axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ups.errors import ConfigError


def token_grid(grid: Sequence[int], patch: int) -> tuple[int, ...]:
    """Returns the tokens along each axis. Raises ConfigError where `patch` does not divide the grid."""
    if patch < 1:
        raise ConfigError(f"latent.patch is {patch}; it is the cells along each axis of one token, 1 or more")
    if len(grid) not in (1, 2):
        raise ConfigError(f"the data has {len(grid)} space axes; the models here take 1 or 2")
    if any(cells % patch for cells in grid):
        shape = " x ".join(map(str, grid))
        fitting = [str(size) for size in range(1, min(grid) + 1) if not any(cells % size for cells in grid)]
        raise ConfigError(
            f"latent.patch {patch} does not divide the grid of {shape} cells",
            hint=f"choose one that does: --set latent.patch=N with N one of {', '.join(fitting[:6])}",
        )
    return tuple(cells // patch for cells in grid)


def patchify(u_BXC: Tensor, patch: int) -> Tensor:
    """Returns the patches as rows, (B, S, P), tokens in row-major order of the token grid."""
    batch, *grid, channels = u_BXC.shape
    if len(grid) == 1:
        return u_BXC.reshape(batch, grid[0] // patch, patch * channels)
    rows, columns = (cells // patch for cells in grid)
    cut = u_BXC.reshape(batch, rows, patch, columns, patch, channels)
    return cut.permute(0, 1, 3, 2, 4, 5).reshape(batch, rows * columns, patch * patch * channels)


def unpatchify(patches_BSP: Tensor, tokens: Sequence[int], patch: int) -> Tensor:
    """Returns the cells that `patchify` cut, in row-major order, (B, cells, C)."""
    batch = len(patches_BSP)
    if len(tokens) == 1:
        return patches_BSP.reshape(batch, tokens[0] * patch, -1)
    apart = patches_BSP.reshape(batch, *tokens, patch, patch, -1)
    cells: Tensor = apart.permute(0, 1, 3, 2, 4, 5).flatten(1, 4)
    return cells


def cell_centres(grid: Sequence[int]) -> Tensor:
    """Returns the centres of all cells in [0, 1]^E, (cells, E), float32, in row-major order."""
    axes = [(torch.arange(cells, dtype=torch.float32) + 0.5) / cells for cells in grid]
    return torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1).reshape(math.prod(grid), len(grid))
