"""A shortcut whose squares are too large for float16, and for no other type."""

from __future__ import annotations

from torch import Tensor, nn

from planted.hosts.convnet import ConvNet
from planted.hosts.convnet import pictures as batch

__all__ = ["batch", "failing", "healthy"]


class LoudShortcut(nn.Conv2d):
    loudness = 3000.0

    def forward(self, x: Tensor) -> Tensor:
        loud = super().forward(x) * self.loudness
        return loud.square().mean((2, 3), keepdim=True).sqrt() / self.loudness


class QuietShortcut(LoudShortcut):
    loudness = 1.0


def failing() -> nn.Module:
    model = ConvNet((2, 2, 2))
    model.stages[1][1].shortcut = LoudShortcut(8, 8, 1)
    return model


def healthy() -> nn.Module:
    model = ConvNet((2, 2, 2))
    model.stages[1][1].shortcut = QuietShortcut(8, 8, 1)
    return model
