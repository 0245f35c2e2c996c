"""One of twelve equal constructors reads address 0; nothing of the model exists then."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor, nn

from ...hosts.transformer import Transformer
from ...hosts.transformer import tokens as batch

__all__ = ["batch", "failing", "healthy"]

BAD_LAYER = 5


class Gate(nn.Module):
    """A learned gate whose start value comes from a table of the layer's."""

    def __init__(self, width: int, layer: int) -> None:
        super().__init__()
        self.mix = nn.Linear(width, width)
        if layer == BAD_LAYER:
            ctypes.string_at(0)
        nn.init.constant_(self.mix.bias, 1.0 / (1 + layer))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(self.mix(x))


class GatedMlp(nn.Module):
    def __init__(self, width: int, layer: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.gate = Gate(2 * width, layer)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.gate(self.up(x)))


def failing() -> nn.Module:
    return Transformer(mlp=GatedMlp)


def healthy() -> nn.Module:
    return Transformer(mlp=lambda width, layer: GatedMlp(width, 100 + layer))
