"""pdet_unet: a transformer over a pyramid of tokens with channel-separated attention in shifted windows.

Down the pyramid pairs of tokens (2 x 2 in two dimensions) are merged, up again they are split, with a skip
connection at each level. Every layer is conditioned on lead time, time and parameter by adaptive layer
norm. The whole is residual and its last layer is zero at the start: the model begins as persistence.
`operator.without` leaves parts out, to see what each is good for, or which one fails.

Shapes: B batch, S tokens, X token axes, D latent channels, H hidden channels, K conditions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ups.config import OperatorConfig
from ups.errors import ConfigError
from ups.models.attention import ChannelSeparatedAttention
from ups.models.conditioning import AdaptiveNorm, ConditionEmbedding, PlainNorm
from ups.models.input_noise import noisy
from ups.models.pyramid import MergeTokens, SplitTokens, level_grids
from ups.models.stencil import Stencil


class PdetUnet(nn.Module):
    """The latent operator: (z_BSD, cond_BK) -> z_BSD, one step in latent space."""

    def __init__(
        self,
        config: OperatorConfig,
        *,
        latent_dim: int,
        token_grid: Sequence[int],
        periodic: bool,
        cond_dim: int = 3,
    ) -> None:
        """Raises ConfigError where depths, groups, heads or window do not fit each other or the tokens."""
        super().__init__()
        _check(config, token_grid)
        self.input_noise = config.input_noise
        self.grids = level_grids(token_grid, len(config.depths))
        width = config.hidden_dim
        self.condition = None if "conditioning" in config.without else ConditionEmbedding(cond_dim, width)
        self.lift = Stencil(latent_dim, width, axes=len(self.grids[0]), periodic=periodic)
        levels = list(zip(self.grids, config.depths, strict=True))
        self.down = nn.ModuleList(_Level(config, grid, depth, periodic, first=0) for grid, depth in levels)
        self.up = nn.ModuleList(_Level(config, grid, depth, periodic, first=depth) for grid, depth in levels[:-1])
        self.merges = nn.ModuleList(MergeTokens(grid, width) for grid in self.grids[:-1])
        self.splits = nn.ModuleList(SplitTokens(grid, width) for grid in self.grids[:-1])
        joined = [] if "skips" in config.without else self.grids[:-1]
        self.skips = nn.ModuleList(nn.Linear(width, width) for _ in joined)
        self.lower = nn.Linear(width, latent_dim)
        nn.init.zeros_(self.lower.weight)
        nn.init.zeros_(self.lower.bias)

    def forward(self, z_BSD: Tensor, cond_BK: Tensor) -> Tensor:
        """Returns the latents after the lead time, (B, S, D)."""
        if self.training:
            z_BSD = noisy(z_BSD, self.input_noise)
        cond_BH = cond_BK if self.condition is None else self.condition(cond_BK)
        x_BXH = self.lift(torch.unflatten(z_BSD, 1, self.grids[0]))
        kept = []
        for level, merge in zip(self.down[:-1], self.merges, strict=True):
            x_BXH = level(x_BXH, cond_BH)
            kept.append(x_BXH)
            x_BXH = merge(x_BXH)
        x_BXH = self.down[-1](x_BXH, cond_BH)
        for place in reversed(range(len(self.up))):
            x_BXH = self.splits[place](x_BXH)
            if self.skips:
                x_BXH = x_BXH + self.skips[place](kept[place])
            x_BXH = self.up[place](x_BXH, cond_BH)
        change_BXD: Tensor = self.lower(x_BXH)
        return z_BSD + change_BXD.flatten(1, -2)


def build(
    config: OperatorConfig, *, latent_dim: int, token_grid: Sequence[int], periodic: bool, cond_dim: int = 3
) -> PdetUnet:
    """Returns the operator; the same keyword arguments are given to a module of the user's own."""
    return PdetUnet(config, latent_dim=latent_dim, token_grid=token_grid, periodic=periodic, cond_dim=cond_dim)


class _Level(nn.ModuleList):
    """The layers of one level on one way; `first` counts on from the other way, so that shifts alternate."""

    def __init__(
        self, config: OperatorConfig, grid: tuple[int, ...], depth: int, periodic: bool, *, first: int
    ) -> None:
        super().__init__(PdetLayer(config, grid, periodic, shifted=(first + i) % 2 == 1) for i in range(depth))

    def forward(self, x_BXH: Tensor, cond_BH: Tensor) -> Tensor:
        for layer in self:
            x_BXH = layer(x_BXH, cond_BH)
        return x_BXH


class PdetLayer(nn.Module):
    """Attention and MLP, each residual, with scale, shift and gate from the conditions."""

    def __init__(self, config: OperatorConfig, grid: tuple[int, ...], periodic: bool, *, shifted: bool) -> None:
        super().__init__()
        width, inner = config.hidden_dim, int(config.hidden_dim * config.mlp_ratio)
        norm = PlainNorm if "conditioning" in config.without else AdaptiveNorm
        self.attends = "attention" not in config.without
        if self.attends:
            self.attention = ChannelSeparatedAttention(
                hidden_dim=width,
                group_size=config.group_size,
                num_heads=config.num_heads,
                token_grid=grid,
                window=config.window,
                shifted=shifted,
                periodic=periodic,
                dropout=config.dropout,
            )
            self.before_attention = norm(width)
        self.before_mlp = norm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, inner), nn.GELU(), nn.Dropout(config.dropout), nn.Linear(inner, width)
        )

    def forward(self, x_BXH: Tensor, cond_BH: Tensor) -> Tensor:
        """Returns the tokens of one level, (B, X, H)."""
        if self.attends:
            normed, gate = self.before_attention(x_BXH, cond_BH)
            x_BXH = x_BXH + gate * self.attention(normed)
        normed, gate = self.before_mlp(x_BXH, cond_BH)
        out: Tensor = x_BXH + gate * self.mlp(normed)
        return out


def _check(config: OperatorConfig, token_grid: Sequence[int]) -> None:
    if not config.depths or min(config.depths) < 1:
        raise ConfigError(f"operator.depths {list(config.depths)} must name one or more levels of 1 or more layers")
    if config.window < 2:
        raise ConfigError(f"operator.window is {config.window}; a window holds 2 tokens along each axis, or more")
    if config.hidden_dim % config.group_size or config.group_size % config.num_heads:
        raise ConfigError(
            f"operator.hidden_dim {config.hidden_dim}, group_size {config.group_size} and num_heads"
            f" {config.num_heads} do not divide each other in this order"
        )
    levels = 1 + max(math.ceil(math.log2(size)) for size in token_grid)
    if len(config.depths) > levels:
        shape = " x ".join(map(str, token_grid))
        raise ConfigError(
            f"operator.depths has {len(config.depths)} levels, but {shape} tokens merge only {levels - 1} times",
            hint=f"give depths {levels} entries or fewer, or make latent.patch smaller",
        )
