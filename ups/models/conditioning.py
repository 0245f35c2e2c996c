"""Conditioning on lead time, time and parameter: an embedding, and layer norm that it scales and shifts.

Shapes: B batch, X token axes, H hidden channels, K conditions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

FREQUENCIES = (0.5, 1.0, 2.0, 4.0)  # radians per unit of time, or per decade of the parameter


class ConditionEmbedding(nn.Module):
    """(B, K) -> (B, H): each condition and its sines and cosines through an MLP."""

    frequencies: Tensor

    def __init__(self, cond_dim: int, width: int) -> None:
        super().__init__()
        self.register_buffer("frequencies", torch.tensor(FREQUENCIES), persistent=False)
        inputs = cond_dim * (1 + 2 * len(FREQUENCIES))
        self.mlp = nn.Sequential(nn.Linear(inputs, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())

    def forward(self, cond_BK: Tensor) -> Tensor:
        """Returns the embedding, (B, H)."""
        waves = cond_BK.unsqueeze(-1) * self.frequencies
        features = torch.cat([cond_BK, waves.sin().flatten(1), waves.cos().flatten(1)], dim=-1)
        out: Tensor = self.mlp(features)
        return out


class AdaptiveNorm(nn.Module):
    """Layer norm whose scale, shift and gate come from the conditions; at the start it is a plain one."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.modulate = nn.Linear(width, 3 * width)
        nn.init.zeros_(self.modulate.weight)
        nn.init.zeros_(self.modulate.bias)

    def forward(self, x_BXH: Tensor, cond_BH: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the normed tokens (B, X, H) and the gate (B, 1..., H) for what is made of them."""
        shape = (x_BXH.shape[0], *(1 for _ in x_BXH.shape[1:-1]), -1)
        scale, shift, gate = self.modulate(cond_BH).reshape(shape).chunk(3, dim=-1)
        return self.norm(x_BXH) * (1 + scale) + shift, 1 + gate


class PlainNorm(nn.Module):
    """Layer norm that knows no conditions, where AdaptiveNorm may stand."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x_BXH: Tensor, _cond: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the normed tokens (B, X, H) and a gate of 1."""
        return self.norm(x_BXH), x_BXH.new_ones(())


class Modulation(nn.Module):
    """Scale, shift and gate from the conditions, without any norm; at the start it changes nothing."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.modulate = nn.Linear(width, 3 * width)
        nn.init.zeros_(self.modulate.weight)
        nn.init.zeros_(self.modulate.bias)

    def forward(self, x_BXH: Tensor, cond_BH: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the tokens (B, X, H) and the gate (B, 1..., H) for what is made of them."""
        shape = (x_BXH.shape[0], *(1 for _ in x_BXH.shape[1:-1]), -1)
        scale, shift, gate = self.modulate(cond_BH).reshape(shape).chunk(3, dim=-1)
        return x_BXH * (1 + scale) + shift, 1 + gate
