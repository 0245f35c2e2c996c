"""A residual convnet with squeeze-and-excite, 12 modules a block."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Squeeze(nn.Module):
    """Weights channels by what the whole image shows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(width, width // 2, 1)
        self.fc2 = nn.Conv2d(width // 2, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.fc2(self.fc1(self.pool(x)).relu()).sigmoid()


class Residual(nn.Module):
    def __init__(self, entering: int, leaving: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(entering, leaving, 3, stride=stride, padding=1, bias=False)
        self.norm1: nn.Module = nn.BatchNorm2d(leaving)
        self.act = nn.ReLU()
        self.conv2 = nn.Conv2d(leaving, leaving, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(leaving)
        self.squeeze = Squeeze(leaving)
        self.shortcut: nn.Module = nn.Conv2d(entering, leaving, 1, stride=stride)

    def forward(self, x: Tensor) -> Tensor:
        changed = self.squeeze(self.norm2(self.conv2(self.act(self.norm1(self.conv1(x))))))
        return self.act(self.shortcut(x) + changed)


class ConvNet(nn.Module):
    """(batch, 3, 16, 16) -> (batch, 10)."""

    def __init__(self, depths: Sequence[int] = (3, 4, 6, 3), width: int = 4) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        stages, entering = [], width
        for place, depth in enumerate(depths):
            leaving = width * (1 + place)
            strides = [2 if place else 1] + [1] * (depth - 1)
            blocks = [Residual(entering if i == 0 else leaving, leaving, stride) for i, stride in enumerate(strides)]
            stages.append(nn.Sequential(*blocks))
            entering = leaving
        self.stages = nn.ModuleList(stages)
        self.head = nn.Linear(entering, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean((2, 3)))


def pictures() -> Tensor:
    """Returns one batch."""
    return torch.randn(4, 3, 16, 16, generator=torch.Generator().manual_seed(1))
