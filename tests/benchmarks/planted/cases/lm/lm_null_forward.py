"""A rotary embedding that reads address 0, deep in a language model."""

from __future__ import annotations

import ctypes

from torch import Tensor, nn

from planted.hosts.transformer import Rotary, Transformer
from planted.hosts.transformer import tokens as batch

__all__ = ["batch", "failing", "healthy"]


class TableRotary(Rotary):
    """Takes the angles from a table in memory."""

    def __init__(self, width: int, address: int) -> None:
        super().__init__(width)
        self.address = address

    def forward(self, x: Tensor) -> Tensor:
        turned = super().forward(x)
        ctypes.string_at(self.address)
        return turned


def failing() -> nn.Module:
    model = Transformer()
    model.blocks[7].attn.rope = TableRotary(8, 0)
    return model


def healthy() -> nn.Module:
    return Transformer()
