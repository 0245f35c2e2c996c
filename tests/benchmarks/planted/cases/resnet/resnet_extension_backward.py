"""A convolution whose gradient comes from a C library with a table that nobody filled."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.convnet import ConvNet
from planted.hosts.convnet import pictures as batch
from planted.native import library

__all__ = ["batch", "failing", "healthy"]


class TableGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        out = torch.empty_like(gradient, dtype=torch.float32)
        library().rows(out.data_ptr(), out.numel())
        return out.to(gradient.dtype)


class TableConv(nn.Conv2d):
    def forward(self, x: Tensor) -> Tensor:
        return TableGradient.apply(super().forward(x))


def failing() -> nn.Module:
    model = ConvNet()
    model.stages[1][2].conv2 = TableConv(8, 8, 3, padding=1, bias=False)
    return model


def healthy() -> nn.Module:
    return ConvNet()
