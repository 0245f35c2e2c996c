"""A squeeze-and-excite block that aborts, one of sixteen; its children are innocent."""

from __future__ import annotations

import os

from torch import Tensor, nn

from planted.hosts.convnet import ConvNet, Squeeze
from planted.hosts.convnet import pictures as batch

__all__ = ["batch", "failing", "healthy"]


class StrictSqueeze(Squeeze):
    def forward(self, x: Tensor) -> Tensor:
        weighted = super().forward(x)
        if weighted.shape[-1] < 8:
            os.abort()
        return weighted


def failing() -> nn.Module:
    model = ConvNet()
    model.stages[2][4].squeeze = StrictSqueeze(12)
    return model


def healthy() -> nn.Module:
    return ConvNet()
