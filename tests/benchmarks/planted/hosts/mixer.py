"""An MLP-mixer, 11 modules a layer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

TOKENS = 8


def mlp(width: int) -> nn.Sequential:
    """Returns a layer that widens and narrows again."""
    return nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.token: nn.Module = mlp(TOKENS)
        self.norm2 = nn.LayerNorm(width)
        self.channel: nn.Module = mlp(width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.token(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel(self.norm2(x))


class Mixer(nn.Module):
    """(batch, tokens, 6), and a scale for each sample, -> (batch, 3)."""

    def __init__(self, depth: int = 4, width: int = 12) -> None:
        super().__init__()
        self.lift = nn.Linear(6, width)
        self.layers = nn.Sequential(*(Layer(width) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 3)

    def forward(self, x: Tensor, *, scale: Tensor | None = None) -> Tensor:
        x = self.lift(x)
        if scale is not None:
            x = x * scale[:, None, None]
        return self.head(self.norm(self.layers(x)).mean(1))


def patches() -> dict[str, Tensor]:
    """Returns one batch as keywords."""
    generator = torch.Generator().manual_seed(1)
    return {"x": torch.randn(4, TOKENS, 6, generator=generator), "scale": torch.rand(4, generator=generator)}
