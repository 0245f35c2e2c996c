"""pdet_stack: layers over one token grid, each mixing long waves and direct neighbours, and nothing is normalised.

Layer norm takes from each token its size, and with tokens of few cells that size is the field: on cells the same layers
come to a third of the error without it (README, "Evaluate"). Conditions scale, shift and gate what a layer sees. The
whole is residual and its last layer is zero at the start: the model begins as persistence. With edges the tokens'
coordinates are given to it. `operator.without` leaves out conditioning, or `attention`, here the mixing of waves.

Shapes: B batch, S tokens, X token axes, D latent channels, H hidden channels, K conditions, E space axes.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812 - the name everybody knows
from torch import Tensor, nn

from ups.config import OperatorConfig
from ups.errors import ConfigError
from ups.models.conditioning import ConditionEmbedding, Modulation
from ups.models.fourier_mixing import FourierMixing
from ups.models.input_noise import noisy
from ups.models.patches import cell_centres
from ups.models.stencil import Stencil


class PdetStack(nn.Module):
    """The latent operator: (z_BSD, cond_BK) -> z_BSD, one step in latent space."""

    coordinates_XE: Tensor

    def __init__(
        self, config: OperatorConfig, *, latent_dim: int, token_grid: Sequence[int], periodic: bool, cond_dim: int = 3
    ) -> None:
        """Raises ConfigError where depths name more than one level."""
        super().__init__()
        if len(config.depths) != 1:
            raise ConfigError(
                f"operator.depths {list(config.depths)} has {len(config.depths)} levels, and pdet_stack has one",
                hint=f"--set operator.depths=[{sum(config.depths) or 4}]",
            )
        self.input_noise, self.grid = config.input_noise, tuple(token_grid)
        width, axes = config.hidden_dim, len(self.grid)
        self.condition = None if "conditioning" in config.without else ConditionEmbedding(cond_dim, width)
        places = torch.unflatten(2 * cell_centres(self.grid) - 1, 0, self.grid)
        self.register_buffer("coordinates_XE", places[..., :0] if periodic else places, persistent=False)
        self.lift = Stencil(latent_dim + self.coordinates_XE.shape[-1], width, axes=axes, periodic=periodic)
        self.layers = nn.ModuleList(_Layer(config, self.grid, periodic) for _ in range(config.depths[0]))
        self.lower = nn.Linear(width, latent_dim)
        nn.init.zeros_(self.lower.weight)
        nn.init.zeros_(self.lower.bias)

    def forward(self, z_BSD: Tensor, cond_BK: Tensor) -> Tensor:
        """Returns the latents after the lead time, (B, S, D)."""
        if self.training:
            z_BSD = noisy(z_BSD, self.input_noise)
        cond_BH = cond_BK if self.condition is None else self.condition(cond_BK)
        z_BXD = torch.unflatten(z_BSD, 1, self.grid)
        places = self.coordinates_XE.to(z_BXD).expand(len(z_BXD), *self.coordinates_XE.shape)
        x_BXH = self.lift(torch.cat([z_BXD, places], dim=-1))
        for layer in self.layers:
            x_BXH = layer(x_BXH, cond_BH)
        change_BXD: Tensor = self.lower(x_BXH)
        return z_BSD + change_BXD.flatten(1, -2)


def build(
    config: OperatorConfig, *, latent_dim: int, token_grid: Sequence[int], periodic: bool, cond_dim: int = 3
) -> PdetStack:
    """Returns the operator; the same keyword arguments are given to a module of the user's own."""
    return PdetStack(config, latent_dim=latent_dim, token_grid=token_grid, periodic=periodic, cond_dim=cond_dim)


class _Layer(nn.Module):
    """Waves and neighbours, then an MLP, each residual."""

    def __init__(self, config: OperatorConfig, grid: tuple[int, ...], periodic: bool) -> None:
        super().__init__()
        width, inner = config.hidden_dim, int(config.hidden_dim * config.mlp_ratio)
        self.before = None if "conditioning" in config.without else Modulation(width)
        self.waves = None
        if "attention" not in config.without:
            self.waves = FourierMixing(width, grid, config.modes, periodic=periodic)
        self.neighbours = Stencil(width, width, axes=len(grid), periodic=periodic)
        self.mlp = nn.Sequential(
            nn.Linear(width, inner), nn.GELU(), nn.Dropout(config.dropout), nn.Linear(inner, width)
        )

    def forward(self, x_BXH: Tensor, cond_BH: Tensor) -> Tensor:
        """Returns the tokens, (B, X, H)."""
        seen, gate = (x_BXH, x_BXH.new_ones(())) if self.before is None else self.before(x_BXH, cond_BH)
        mixed = self.neighbours(seen)
        if self.waves is not None:
            mixed = mixed + self.waves(seen)
        x_BXH = x_BXH + gate * F.gelu(mixed)
        out: Tensor = x_BXH + self.mlp(x_BXH)
        return out
