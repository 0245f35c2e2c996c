"""A skip's gate whose own gradient reads address 0: the signal comes in autograd's thread, far from its module."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor, nn

from planted.hosts.unet import UNet
from planted.hosts.unet import images as batch

__all__ = ["batch", "failing", "healthy"]


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, table: int) -> Tensor:
        ctx.save_for_backward(x)
        ctx.table = table
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        ctypes.string_at(ctx.table)
        return gradient * x.sigmoid(), None


class SwishGate(nn.Module):
    def __init__(self, width: int, table: int) -> None:
        super().__init__()
        self.mix = nn.Conv2d(width, width, 1)
        self.table = table

    def forward(self, x: Tensor) -> Tensor:
        return Swish.apply(self.mix(x), self.table)


def failing() -> nn.Module:
    model = UNet()
    model.ups[1].gate = SwishGate(8, 0)
    return model


def healthy() -> nn.Module:
    model = UNet()
    model.ups[1].gate = nn.Conv2d(8, 8, 1)
    return model
