"""Nothing is wrong here."""

from __future__ import annotations

from torch import nn

from planted.hosts.unet import UNet
from planted.hosts.unet import images as batch

__all__ = ["batch", "failing"]


def failing() -> nn.Module:
    return UNet()
