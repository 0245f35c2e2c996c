"""The attention at a U-Net's bottom aborts while it is built: a check in native code that only C++ programmers see."""

from __future__ import annotations

import os
import sys

from torch import nn

from planted.hosts.unet import PixelAttention, UNet
from planted.hosts.unet import images as batch

__all__ = ["batch", "failing", "healthy"]


class PlannedAttention(PixelAttention):
    """Plans its kernels when it is built."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        sys.stderr.write("plan.cpp:41: check failed: heads > 0\n")
        sys.stderr.flush()
        os.abort()


def failing() -> nn.Module:
    return UNet(attention=PlannedAttention)


def healthy() -> nn.Module:
    return UNet()
