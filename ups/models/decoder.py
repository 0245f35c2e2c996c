"""The any-point decoder: cross attention from a point in space to the tokens around it.

A point sees the 2^E tokens whose centres surround it. Each contributes values times learned functions
of where the point lies relative to the token, weighted by attention; a hat function inside the softmax
takes a token's weight to zero where it leaves the neighbourhood, so the decoded field is continuous.

Shapes: B batch, S tokens, D latent channels, Q query points, E space axes, K = 2^E neighbours,
H hidden channels, N heads, F Fourier features.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ups.models.field_linear import FieldLinear

FREQUENCIES = (1.0, 2.0, 4.0)  # half waves over one token spacing; 4 resolves eight cells a token
SMALLEST_WEIGHT = 1e-6  # the hat's floor: log(0) would make NaN gradients


class AnyPointDecoder(nn.Module):
    """Decodes latents at any points of [0, 1]^E."""

    def __init__(
        self,
        *,
        latent_dim: int,
        hidden_dim: int,
        depth: int,
        num_heads: int,
        token_grid: Sequence[int],
        channels: int,
        fields: int,
        periodic: bool,
    ) -> None:
        super().__init__()
        self.token_grid = tuple(token_grid)
        self.periodic = periodic
        axes = len(self.token_grid)
        # Where the domain has edges, the distance to them matters; on a periodic one every place is alike.
        features = axes * (1 + 2 * len(FREQUENCIES)) * (1 if periodic else 2)
        self.position = nn.Sequential(
            nn.Linear(features, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, hidden_dim), nn.GELU()
        )
        self.layers = nn.ModuleList(
            _CrossAttention(latent_dim, hidden_dim, num_heads, first=index == 0) for index in range(depth)
        )
        self.head = FieldLinear(fields, hidden_dim, channels)

    def forward(self, z_BSD: Tensor, points_QE: Tensor, field: int | Tensor) -> Tensor:
        """Returns the field at the points, (B, Q, C); all samples are decoded at the same points."""
        index_QK, offset_QKE, weight_QK = surrounding_tokens(points_QE, self.token_grid, self.periodic)
        features = [_fourier(offset_QKE)]
        if not self.periodic:
            features.append(_fourier(points_QE).unsqueeze(1).expand(-1, index_QK.shape[1], -1))
        position_QKH = self.position(torch.cat(features, dim=-1))
        log_weight_QK = weight_QK.clamp_min(SMALLEST_WEIGHT).log()
        x_BQH: Tensor | None = None
        for layer in self.layers:
            x_BQH = layer(x_BQH, z_BSD, position_QKH, index_QK, log_weight_QK)
        assert x_BQH is not None  # noqa: S101 - depth is 1 or more
        out: Tensor = self.head(x_BQH, field)
        return out


class _CrossAttention(nn.Module):
    """One layer: attention of each point to its neighbours, then an MLP; both residual after the first."""

    def __init__(self, latent_dim: int, hidden_dim: int, num_heads: int, *, first: bool) -> None:
        super().__init__()
        self.heads = num_heads
        self.key_value = nn.Linear(latent_dim, 2 * hidden_dim)
        self.query_gain = nn.Linear(hidden_dim, 2 * hidden_dim)
        self.query = None if first else nn.Linear(hidden_dim, hidden_dim)
        self.mlp = nn.Sequential(
            nn.LayerNorm(hidden_dim),
            nn.Linear(hidden_dim, 2 * hidden_dim),
            nn.GELU(),
            nn.Linear(2 * hidden_dim, hidden_dim),
        )

    def forward(
        self, x_BQH: Tensor | None, z_BSD: Tensor, position_QKH: Tensor, index_QK: Tensor, log_weight_QK: Tensor
    ) -> Tensor:
        """Returns the points' features, (B, Q, H)."""
        points, neighbours = index_QK.shape
        near = self.key_value(z_BSD).index_select(1, index_QK.flatten())
        key, value = near.unflatten(1, (points, neighbours)).chunk(2, dim=-1)  # each (B, Q, K, H)
        query, gain = self.query_gain(position_QKH).chunk(2, dim=-1)  # each (Q, K, H)
        if self.query is not None:
            query = query + self.query(x_BQH).unsqueeze(2)
        scale = math.sqrt(self.heads / key.shape[-1])
        logits_BQKN = (query * key).unflatten(-1, (self.heads, -1)).sum(-1) * scale
        attention = (logits_BQKN + log_weight_QK.unsqueeze(-1)).softmax(dim=2)
        values = (value * gain).unflatten(-1, (self.heads, -1))
        seen_BQH = (attention.unsqueeze(-1) * values).sum(2).flatten(-2)
        x_BQH = seen_BQH if x_BQH is None else x_BQH + seen_BQH
        out: Tensor = x_BQH + self.mlp(x_BQH)
        return out


def surrounding_tokens(points_QE: Tensor, token_grid: Sequence[int], periodic: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the 2^E tokens around each point: index (Q, K), offset (Q, K, E) and hat weight (Q, K).

    Offsets point from the token's centre to the point, in token spacings. Beyond the outermost centres of a
    domain with edges the two outermost tokens are taken.
    """
    sizes = points_QE.new_tensor(token_grid)
    place_QE = points_QE * sizes - 0.5  # token i has its centre at i
    low_QE = place_QE.floor()
    if not periodic:
        low_QE = torch.minimum(low_QE.clamp_min(0), (sizes - 2).clamp_min(0))
    corners_KE = points_QE.new_tensor(list(itertools.product((0, 1), repeat=len(token_grid))))
    token_QKE = low_QE.unsqueeze(1) + corners_KE
    offset_QKE = place_QE.unsqueeze(1) - token_QKE
    weight_QK = (1 - offset_QKE.abs()).clamp(0, 1).prod(-1)
    wrapped = token_QKE.long() % sizes.long() if periodic else torch.minimum(token_QKE.long(), sizes.long() - 1)
    index_QK = wrapped[..., 0]
    for axis in range(1, len(token_grid)):
        index_QK = index_QK * token_grid[axis] + wrapped[..., axis]
    return index_QK, offset_QKE, weight_QK


def _fourier(x: Tensor) -> Tensor:
    waves = x.unsqueeze(-1) * (math.pi * x.new_tensor(FREQUENCIES))
    return torch.cat([x, waves.sin().flatten(-2), waves.cos().flatten(-2)], dim=-1)
