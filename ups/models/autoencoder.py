"""The autoencoder: a field on a grid becomes a grid of tokens, and a field at any point again.

On a periodic domain the encoder sees no absolute coordinates and its convolutions wrap around, so that
moving the field by a patch moves the tokens by one; with edges, the tokens' coordinates are given to it.

Shapes: B batch, X grid axes, C channels, S tokens, D latent channels, Q query points, E space axes,
H hidden channels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from ups.config import LatentConfig
from ups.errors import ConfigError
from ups.models.decoder import SMALLEST_WEIGHT, AnyPointDecoder, surrounding_tokens
from ups.models.field_linear import FieldLinear
from ups.models.patches import cell_centres, patchify, token_grid, unpatchify


class FieldAutoencoder(nn.Module):
    """Encoder and any-point decoder. `token_grid` are the tokens along each axis, `tokens` their number."""

    points_QE: Tensor
    coordinates_SE: Tensor

    def __init__(
        self, config: LatentConfig, *, grid: Sequence[int], channels: int, fields: Sequence[str], periodic: bool
    ) -> None:
        """Raises ConfigError when the patch does not divide the grid, or the heads not the hidden channels."""
        super().__init__()
        _check(config)
        self.grid = tuple(grid)
        self.patch = config.patch
        self.token_grid = token_grid(grid, config.patch)
        self.tokens = math.prod(self.token_grid)
        self.periodic = periodic
        numbers = channels * config.patch ** len(self.grid)
        self.exact, self.numbers = config.exact, numbers
        if config.exact and config.dim < numbers:
            raise ConfigError(
                f"latent.exact needs latent.dim of at least the {numbers} numbers of one patch, and it is {config.dim}",
                hint="make latent.dim larger or latent.patch smaller",
            )
        self.stem = FieldLinear(len(fields), numbers, config.hidden_dim)
        self.short_cut = FieldLinear(len(fields), numbers, config.dim)
        self.locate = None if periodic else nn.Linear(len(self.grid), config.hidden_dim)
        self.blocks = nn.ModuleList(
            _ResidualBlock(config.hidden_dim, axes=len(self.grid), periodic=periodic) for _ in range(config.depth)
        )
        self.to_latent = nn.Sequential(nn.LayerNorm(config.hidden_dim), nn.Linear(config.hidden_dim, config.dim))
        self.decoder = AnyPointDecoder(
            latent_dim=config.dim,
            hidden_dim=config.hidden_dim,
            depth=config.depth,
            num_heads=config.num_heads,
            token_grid=self.token_grid,
            channels=channels,
            fields=len(fields),
            periodic=periodic,
        )
        if config.exact:  # what the decoder learns is added to the cells, and begins with nothing
            torch.nn.init.zeros_(self.decoder.head.weight_FIO)
        self.register_buffer("points_QE", cell_centres(self.grid), persistent=False)
        self.register_buffer("coordinates_SE", 2 * cell_centres(self.token_grid) - 1, persistent=False)

    def encode(self, u_BXC: Tensor, field: int | Tensor = 0) -> Tensor:
        """Returns the latents (B, S, D) of a normalised field; `field` is an index, or one a sample (B,)."""
        patches_BSP = patchify(u_BXC, self.patch)
        x_BSH = self.stem(patches_BSP, field)
        if self.locate is not None:
            x_BSH = x_BSH + self.locate(self.coordinates_SE)
        x_BHX = x_BSH.transpose(1, 2).unflatten(2, self.token_grid)
        for block in self.blocks:
            x_BHX = block(x_BHX)
        z_BSD: Tensor = self.short_cut(patches_BSP, field) + self.to_latent(x_BHX.flatten(2).transpose(1, 2))
        if self.exact:
            z_BSD = torch.cat([patches_BSP.to(z_BSD), z_BSD[..., patches_BSP.shape[-1] :]], dim=-1)
        return z_BSD

    def decode(self, z_BSD: Tensor, points_QE: Tensor, field: int | Tensor = 0) -> Tensor:
        """Returns the normalised field at points of [0, 1]^E, (B, Q, C)."""
        u_BQC: Tensor = self.decoder(z_BSD, points_QE, field)
        return u_BQC + self._between_cells(z_BSD, points_QE) if self.exact else u_BQC

    def _between_cells(self, z_BSD: Tensor, points_QE: Tensor) -> Tensor:
        """Returns the cells that the tokens carry, linear between their centres, (B, Q, C)."""
        cells_BXC = unpatchify(z_BSD[..., : self.numbers], self.token_grid, self.patch)
        index_QK, _, weight_QK = surrounding_tokens(points_QE, self.grid, self.periodic)
        near_BQKC = torch.unflatten(cells_BXC.index_select(1, index_QK.flatten()), 1, tuple(index_QK.shape))
        share_QK = weight_QK / weight_QK.sum(1, keepdim=True).clamp_min(SMALLEST_WEIGHT)
        between: Tensor = (near_BQKC * share_QK.to(z_BSD)[..., None]).sum(2)
        return between

    def decode_grid(self, z_BSD: Tensor, field: int | Tensor = 0) -> Tensor:
        """Returns the normalised field at all cell centres of the grid, (B, *grid, C)."""
        return torch.unflatten(self.decode(z_BSD, self.points_QE, field), 1, self.grid)

    def forward(self, u_BXC: Tensor, points_QE: Tensor, field: int | Tensor = 0) -> Tensor:
        """Returns the reconstruction at the points, (B, Q, C)."""
        return self.decode(self.encode(u_BXC, field), points_QE, field)


class _ResidualBlock(nn.Module):
    """Two convolutions over neighbouring tokens, the second zero at the start: a block begins as identity."""

    def __init__(self, width: int, *, axes: int, periodic: bool) -> None:
        super().__init__()
        convolution = nn.Conv1d if axes == 1 else nn.Conv2d
        padding: Literal["circular", "replicate"] = "circular" if periodic else "replicate"
        self.first = convolution(width, width, 3, padding=1, padding_mode=padding)
        self.second = convolution(width, width, 1)
        nn.init.zeros_(self.second.weight)

    def forward(self, x_BHX: Tensor) -> Tensor:
        out: Tensor = x_BHX + self.second(torch.nn.functional.gelu(self.first(x_BHX)))
        return out


def _check(config: LatentConfig) -> None:
    if config.num_heads < 1 or config.hidden_dim % config.num_heads:
        raise ConfigError(f"latent.num_heads {config.num_heads} does not divide latent.hidden_dim {config.hidden_dim}")
    if config.dim < 1 or config.depth < 1:
        raise ConfigError(f"latent.dim {config.dim} and latent.depth {config.depth} must be 1 or more")
