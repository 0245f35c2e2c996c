"""Heads are shared out over ranks; rank 1 reads its part of a table that nobody made."""

from __future__ import annotations

import ctypes

from torch import Tensor, distributed, nn

from planted.hosts.transformer import Attention, Transformer
from planted.hosts.transformer import tokens as batch

__all__ = ["batch", "failing", "healthy"]


class SharedOutAttention(Attention):
    """Looks up which heads are this rank's."""

    def forward(self, x: Tensor) -> Tensor:
        mixed = super().forward(x)
        if distributed.is_initialized() and distributed.get_rank() == 1:
            ctypes.string_at(0)
        return mixed


def failing() -> nn.Module:
    model = Transformer()
    model.blocks[9].attn = SharedOutAttention(16, 2)
    return model


def healthy() -> nn.Module:
    model = Transformer()
    model.blocks[9].attn = Attention(16, 2)
    return model
