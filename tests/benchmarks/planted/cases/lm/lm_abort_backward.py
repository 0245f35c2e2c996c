"""An output projection whose gradient kernel gives up with abort()."""

from __future__ import annotations

import os

import torch
from torch import Tensor, nn

from planted.hosts.transformer import Transformer
from planted.hosts.transformer import tokens as batch

__all__ = ["batch", "failing", "healthy"]


class Checked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, aligned: bool) -> Tensor:
        ctx.aligned = aligned
        return x.clone()

    @staticmethod
    def backward(ctx, gradient: Tensor) -> tuple[Tensor, None]:
        if not ctx.aligned:
            os.abort()
        return gradient, None


class Projection(nn.Linear):
    def __init__(self, width: int, *, aligned: bool) -> None:
        super().__init__(width, width)
        self.aligned = aligned

    def forward(self, x: Tensor) -> Tensor:
        return Checked.apply(super().forward(x), self.aligned)


def make(*, aligned: bool) -> nn.Module:
    model = Transformer()
    model.blocks[10].attn.out = Projection(16, aligned=aligned)
    return model


def failing() -> nn.Module:
    return make(aligned=False)


def healthy() -> nn.Module:
    return make(aligned=True)
