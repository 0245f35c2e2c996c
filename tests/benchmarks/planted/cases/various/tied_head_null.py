"""A head that shares its weight with the embedding, and cannot bear it."""

from __future__ import annotations

import ctypes

from torch import Tensor, nn

from planted.hosts.transformer import VOCABULARY, Transformer
from planted.hosts.transformer import tokens as batch

__all__ = ["batch", "failing", "healthy"]


class PackedHead(nn.Linear):
    """Packs its weight, which must be its own."""

    def forward(self, x: Tensor) -> Tensor:
        if self.shared:
            ctypes.string_at(0)
        return super().forward(x)

    shared = True


def make(*, shared: bool) -> nn.Module:
    model = Transformer(depth=4, tied=True)
    model.head = PackedHead(16, VOCABULARY, bias=False)
    model.head.shared = shared
    model.head.weight = model.embed.weight
    return model


def failing() -> nn.Module:
    return make(shared=True)


def healthy() -> nn.Module:
    return make(shared=False)
