"""A latent operator whose attention calls a native kernel; on one rank that kernel reads address 0.

`build(crash_in, rank)` gives the faulty program, `build(None, rank)` its healthy twin.
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor, nn


class _NativeSum(torch.autograd.Function):
    """A native sum with a native gradient."""

    @staticmethod
    def forward(ctx, x, broken):
        ctx.broken = broken
        return x * 1.0

    @staticmethod
    def backward(ctx, gradient):
        if ctx.broken:
            read_native(0)
        return gradient, None


def read_native(address: int) -> bytes:
    """Returns the C string at `address`."""
    return ctypes.string_at(address)


class Attention(nn.Module):
    def __init__(self, dim: int, crash_in: str | None):
        super().__init__()
        self.qkv = nn.Linear(dim, dim)
        self.crash_in = crash_in
        if crash_in == "constructor":
            read_native(0)

    def forward(self, x_BSD: Tensor) -> Tensor:
        x_BSD = self.qkv(x_BSD)
        if self.crash_in == "forward":
            read_native(0)
        return _NativeSum.apply(x_BSD, self.crash_in == "backward")


class Level(nn.Module):
    def __init__(self, dim: int, crash_in: str | None):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attention = Attention(dim, crash_in)

    def forward(self, x_BSD: Tensor) -> Tensor:
        return x_BSD + self.attention(self.norm(x_BSD))


class LatentOperator(nn.Module):
    def __init__(self, dim: int, levels: int, crash_in: str | None):
        super().__init__()
        self.levels = nn.ModuleList([Level(dim, crash_in if index == 1 else None) for index in range(levels)])
        self.head = nn.Linear(dim, dim)

    def forward(self, x_BSD: Tensor) -> Tensor:
        for level in self.levels:
            x_BSD = level(x_BSD)
        return self.head(x_BSD)


def build(crash_in: str | None, *, dim: int = 8) -> LatentOperator:
    """Returns the operator; its second level's attention crashes in "constructor", "forward" or "backward"."""
    return LatentOperator(dim, 3, crash_in)
