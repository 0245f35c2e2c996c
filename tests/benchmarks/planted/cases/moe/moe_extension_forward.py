"""One expert of twenty-four takes its weights from a C library with a table that nobody filled."""

from __future__ import annotations

from torch import Tensor, nn

from planted.hosts.mixture import Expert, MixtureModel
from planted.hosts.mixture import sequences as batch
from planted.native import library

__all__ = ["batch", "failing", "healthy"]


class TableExpert(Expert):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * library().look_up(3)


def failing() -> nn.Module:
    model = MixtureModel()
    model.blocks[2].mixture.experts[3] = TableExpert(12)
    return model


def healthy() -> nn.Module:
    return MixtureModel()
