"""A layer that is four layers: its mix reads address 0 in the second call of each step."""

from __future__ import annotations

import ctypes

from torch import Tensor, nn

from planted.hosts.shared import SharedEncoder
from planted.hosts.shared import words as batch

__all__ = ["batch", "failing", "healthy"]


class CountingLinear(nn.Linear):
    """Alternates between two tables, of which one is missing."""

    def __init__(self, width: int) -> None:
        super().__init__(width, width)
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        if self.calls % 4 == 2:
            ctypes.string_at(0)
        return super().forward(x)


def failing() -> nn.Module:
    model = SharedEncoder()
    model.layers[0].mix = CountingLinear(12)
    return model


def healthy() -> nn.Module:
    return SharedEncoder()
