"""A shortcut that only fits what rank 0 sees."""

from __future__ import annotations

from torch import Tensor, distributed, nn

from planted.hosts.convnet import ConvNet
from planted.hosts.convnet import pictures as batch

__all__ = ["batch", "failing", "healthy"]


class RowShortcut(nn.Conv2d):
    """Looks at its image as rows."""

    def forward(self, x: Tensor) -> Tensor:
        rank = distributed.get_rank() if distributed.is_initialized() else 0
        rows = x.flatten(2)
        return super().forward(rows.reshape(*x.shape[:2], x.shape[2] + rank, x.shape[3]))


def failing() -> nn.Module:
    model = ConvNet()
    model.stages[3][0].shortcut = RowShortcut(12, 16, 1, stride=2)
    return model


def healthy() -> nn.Module:
    return ConvNet()
