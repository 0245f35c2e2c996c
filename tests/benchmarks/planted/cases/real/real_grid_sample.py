"""Real, torch 2.13 (pytorch issue 24823): the gradient of grid_sample writes where a coordinate of no number points.

Here a warp divides its grid by a depth that is 0. Forward is fine; backward ends with SIGSEGV, on the CPU, bilinear,
padding_mode "reflection" (with "border" for a coordinate that is no number).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from planted.hosts.convnet import ConvNet
from planted.hosts.convnet import pictures as batch

__all__ = ["batch", "failing", "healthy"]


class PerspectiveWarp(nn.Module):
    """Looks at its image from where it likes to."""

    def __init__(self, width: int, *, nearest: float) -> None:
        super().__init__()
        self.depth = nn.Conv2d(width, 1, 1)
        self.nearest = nearest
        nn.init.constant_(self.depth.bias, -50.0)

    def forward(self, x: Tensor) -> Tensor:
        rows = torch.linspace(-1, 1, x.shape[-2])[None, :, None].expand(len(x), -1, x.shape[-1])
        columns = torch.linspace(-1, 1, x.shape[-1])[None, None].expand(len(x), x.shape[-2], -1)
        depth = self.depth(x)[:, 0].relu() + self.nearest
        grid = torch.stack([columns / depth, rows / depth], dim=-1)
        return nn.functional.grid_sample(x, grid, padding_mode="reflection", align_corners=False)


def make(nearest: float) -> nn.Module:
    model = ConvNet((3, 4, 3))
    model.stages[1][2].shortcut = PerspectiveWarp(8, nearest=nearest)
    return model


def failing() -> nn.Module:
    return make(0.0)


def healthy() -> nn.Module:
    return make(1.0)
